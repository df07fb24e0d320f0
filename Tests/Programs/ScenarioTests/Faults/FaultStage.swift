import AsyncTestSupport
import CommandTestSupport
import Foundation
import FoundationNetworking
import Kafka
import ProgramTestSupport
import StubServer
import Synchronization
import Testing

/// The broker, the shop and the programs of a scene.
final class FaultStage: Sendable {
    /// The places of a healthy and quiet stage.
    struct Calm {
        let readiness: String
        /// The data of the status page; empty for a gateway, which has none.
        let page: String
        let metrics: Exposition
        /// The length of the log before the other places were read.
        let logLength: Int
    }

    private struct State {
        var worker: Program?
        var signer: Program?
        var gateway: Gateway?
        /// The address of the worker's admin server.
        var workerAddress = ""
        /// The places of the stage before the next fault; nil from the beginning of a fault to its end.
        var calm: Calm?
        /// The length of the log at the last mark.
        var mark = 0
        /// The number of dead letters before the fault.
        var letters = 0
        /// The number of users with an event.
        var users = 0
    }

    /// The most lines about the same fault that a process writes in a minute.
    private static let mostEqualLines = 5

    let shop: Shop
    private let scene: FaultScene
    private let configuration: Data
    private let signerPlace: SignerPlace?
    private let vendorServer: StubServer?
    private let state = Mutex(State())

    /// The stage of `scene` with its broker, and no program yet.
    init(_ scene: FaultScene) async throws {
        let shop = try await Shop.open()
        // A stopped or killed worker's partitions are handed on the sooner.
        try shop.configure("    session.timeout.ms: 6000\n", "    session.timeout.ms: 4000\n")
        signerPlace = try scene == .partners ? SignerPlace(shop) : nil
        vendorServer = try await scene == .partners ? Self.startVendor(for: shop) : nil
        configuration = try Data(contentsOf: URL(filePath: shop.configuration))
        self.scene = scene
        self.shop = shop
    }

    // MARK: Programs

    var worker: Program {
        get throws { try #require(state.withLock { $0.worker }) }
    }

    var gateway: Gateway {
        get throws { try #require(state.withLock { $0.gateway }) }
    }

    var vendor: StubServer {
        get throws { try #require(vendorServer) }
    }

    /// Returns `count` numbers of users without an event.
    func newUsers(_ count: Int) -> Range<Int> {
        state.withLock { state in
            defer { state.users += count }
            return state.users..<state.users + count
        }
    }

    /// Replaces the worker if a fault has left it in another state than healthy and quiet, or if it has logged `event`
    /// so often that it may not log it again. Starts all other programs of the scene.
    func ready(toLog event: String? = nil) async throws {
        let isSilent = event.map { log.logLines($0).count >= Self.mostEqualLines } ?? false
        guard calm == nil || isSilent else { return }
        if signerPlace != nil, state.withLock({ $0.signer == nil }) { try await startSigner() }
        try await stopWorker()
        try await startWorker()
        if scene == .gateway { try await startGateway() }
        try await calmDown()
    }

    /// Starts a worker, and waits until it works, unless the fault prevents that.
    func startWorker(isBroken: Bool = false) async throws {
        let worker = try Program(Repository.remint, ["run", "--config", shop.configuration])
        state.withLock { ($0.worker, $0.mark) = (worker, 0) }
        let address = try await AdminAPI(of: worker).address
        state.withLock { $0.workerAddress = address }
        if !isBroken { try #require(await worker.logged(Fault.consumes), "\(worker.errorText)") }
    }

    /// Stops the worker if there is one, and restores the configuration.
    func stopWorker() async throws {
        let worker = state.withLock { state in
            state.calm = nil
            return state.worker
        }
        worker?.terminate()
        await worker?.waitForEnd()
        try configuration.write(to: URL(filePath: shop.configuration))
    }

    private func startGateway() async throws {
        let gateway = try await Gateway.start(shop)
        state.withLock { ($0.gateway, $0.mark) = (gateway, 0) }
    }

    /// Starts the signer that holds rings of the shop.
    func startSigner() async throws {
        let place = try #require(signerPlace)
        let signer = try await place.start()
        state.withLock { $0.signer = signer }
    }

    func killSigner() async {
        let signer = state.withLock { state in
            defer { state.signer = nil }
            return state.signer
        }
        signer?.kill()
        await signer?.waitForEnd()
    }

    /// Runs `remint` with the shop's configuration at its broker.
    @discardableResult
    func remint(_ arguments: String...) async throws -> Command {
        try await Command.remint(
            arguments + ["--config", shop.configuration, "--brokers", shop.broker.bootstrapServers])
    }

    /// Ends the programs, the server and the broker.
    func close() async {
        let programs = state.withLock { [$0.gateway?.program, $0.worker, $0.signer].compactMap(\.self) }
        for program in programs {
            program.kill()
            await program.waitForEnd()
        }
        await vendorServer?.stop()
        await shop.close()
    }

    // MARK: Calm

    /// The places of the stage before the next fault; nil from the beginning of a fault to its end.
    var calm: Calm? { state.withLock { $0.calm } }

    /// Notes that a fault begins.
    func begin() {
        state.withLock { $0.calm = nil }
        mark()
    }

    /// Waits until the programs are healthy and log nothing loud.
    func calmDown() async throws {
        try await eventually("a healthy and quiet stage", within: .seconds(60)) {
            let length = log.utf8.count
            let worker = await get("\(state.withLock { $0.workerAddress })/health/ready")
            guard worker.status == 200, worker.text.contains(#""degraded":{}"#) else { return false }
            let ready = await scene == .gateway ? readiness() : worker
            guard ready.status == 200 else { return false }
            // Page and metrics may be a second old.
            let page = await scene == .gateway ? "" : self.page()
            guard scene == .gateway || page.contains(#""problems":{},"degraded":{}"#),
                let metrics = await self.metrics(), metrics.areDependenciesReady,
                Self.loudLines(of: logBehind(length)).isEmpty
            else { return false }
            state.withLock {
                $0.calm = Calm(readiness: ready.text, page: page, metrics: metrics, logLength: length)
            }
            return true
        }
    }

    // MARK: Places

    /// The answer of `/health/ready`; empty while nobody listens.
    func readiness() async -> (status: Int, text: String) {
        await get("\(state.withLock { $0.gateway?.address ?? $0.workerAddress })/health/ready")
    }

    func page() async -> String { await get("\(state.withLock { $0.workerAddress })/status").text }

    /// The text of `/metrics`; nil while nobody listens.
    func metrics() async -> Exposition? {
        let answer = await get("\(state.withLock { $0.gateway?.metrics ?? $0.workerAddress })/metrics")
        return answer.status == 200 ? Exposition(answer.text) : nil
    }

    /// Returns everything that `remint status` prints, with one space between columns, and without the dead letters
    /// from before the fault.
    func fleet(isBefore: Bool = false) async throws -> String {
        let status = try await remint("status")
        let text = (status.outputText + status.errorText).replacing(#/ {2,}/#, with: " ")
        return text.replacing(#/(remint\.dead-letters \d+ )(\d+)/#) { match in
            let count = Int(match.2) ?? 0
            let before = state.withLock { state in
                if isBefore { state.letters = count }
                return state.letters
            }
            return "\(match.1)\(count - before)"
        }
    }

    /// The log of the gateway, or of the worker where there is no gateway, since the program's start.
    var log: String { state.withLock { ($0.gateway?.program ?? $0.worker)?.errorText ?? "" } }

    /// The log since the last mark, or since the start of a program that started after it.
    var newLog: String { logBehind(state.withLock { $0.mark }) }

    /// Returns the log without its first `length` bytes.
    func logBehind(_ length: Int) -> String { String(decoding: log.utf8.dropFirst(length), as: UTF8.self) }

    /// Begins `newLog` here.
    func mark() {
        let length = log.utf8.count
        state.withLock { $0.mark = length }
    }

    /// Returns the lines of level `warning` or above.
    static func loudLines(of log: String) -> [Substring] {
        log.split(separator: "\n").filter { $0.contains(#/^\S+ (?:warning|error|critical) /#) }
    }

    private func get(_ place: String) async -> (status: Int, text: String) {
        guard let url = URL(string: "http://\(place)"),
            let (data, response) = try? await URLSession.shared.data(for: URLRequest(url: url, timeoutInterval: 5))
        else { return (0, "") }
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }
}
