import Foundation
import FoundationNetworking
import Kafka
import ProgramTestSupport
import StubServer
import Synchronization
import Testing

/// The broker, the shop and the programs of one fault.
final class FaultStage: Sendable {
    private struct State {
        var subject: Program?
        /// A worker beside the gateway.
        var helper: Program?
        var gateway: Gateway?
        /// The address of the metrics, and of readiness and page where they are at the same place.
        var address = ""
        var programs: [Program] = []
        var servers: [StubServer] = []
        var vendor: StubServer?
        var signer: SignerPlace?
        /// The length of the log at the last mark.
        var mark = 0
    }

    let shop: Shop
    private let state = Mutex(State())

    /// A shop with a broker, and no program yet.
    init() async throws { shop = try await Shop.open() }

    // MARK: Programs

    /// The program that the fault is about.
    var program: Program {
        get throws { try #require(state.withLock { $0.subject }) }
    }

    var gateway: Gateway {
        get throws { try #require(state.withLock { $0.gateway }) }
    }

    /// The worker beside the gateway.
    var helper: Program {
        get throws { try #require(state.withLock { $0.helper }) }
    }

    /// The vendor's REST API, where the shop has one.
    var vendor: StubServer {
        get throws { try #require(state.withLock { $0.vendor }) }
    }

    /// The place of the signer, where the shop has one.
    var signer: SignerPlace {
        get throws { try #require(state.withLock { $0.signer }) }
    }

    /// Moves rings of the shop to a signer.
    func placeSigner() throws {
        let place = try SignerPlace(shop)
        state.withLock { $0.signer = place }
    }

    /// Starts `subject`, and waits until it works, unless the fault prevents that.
    func start(_ subject: Fault.Subject, isBroken: Bool) async throws {
        switch subject {
        case .worker: try await startWorker(isBroken: isBroken)
        case .gateway: try await startGateway(isBroken: isBroken)
        }
    }

    /// Starts a worker, which the fault is about from now on.
    func startWorker(isBroken: Bool = false) async throws {
        let worker = try Program(Repository.remint, ["run", "--config", shop.configuration])
        keep(worker)
        let admin = try await AdminAPI(of: worker)
        state.withLock { state in
            state.subject = worker
            state.address = admin.address
            state.mark = 0
        }
        if !isBroken { try #require(await worker.wrote("the worker consumes"), "\(worker.errorText)") }
    }

    private func startGateway(isBroken: Bool) async throws {
        let port = try Gateway.freePort()
        let gateway = try await Gateway.start(
            shop, more: ["metrics: 127.0.0.1:\(port)"], untilReady: !isBroken)
        keep(gateway.program)
        state.withLock { state in
            state.subject = gateway.program
            state.gateway = gateway
            state.address = "127.0.0.1:\(port)"
        }
    }

    /// Runs `remint` with the shop's configuration at its broker.
    @discardableResult
    func remint(_ arguments: String...) async throws -> Program {
        try await Program.run(
            Repository.remint,
            arguments + ["--config", shop.configuration, "--brokers", shop.broker.bootstrapServers])
    }

    /// Ends `program` at the latest with the stage.
    func keep(_ program: Program, isHelper: Bool = false) {
        state.withLock { state in
            state.programs.append(program)
            if isHelper { state.helper = program }
        }
    }

    /// Stops `server` with the stage.
    func keep(_ server: StubServer, isVendor: Bool = false) {
        state.withLock { state in
            state.servers.append(server)
            if isVendor { state.vendor = server }
        }
    }

    /// Ends the programs, the servers and the broker.
    func close() async {
        let (programs, servers) = state.withLock { ($0.programs, $0.servers) }
        for program in programs {
            program.send(SIGCONT)
            program.kill()
            await program.waitForEnd()
        }
        for server in servers { await server.stop() }
        await shop.broker.close()
    }

    // MARK: Places

    /// The answer of `/health/ready`; empty while nobody listens.
    func readiness() async -> (status: Int, text: String) {
        await get("\(state.withLock { $0.gateway?.address ?? $0.address })/health/ready")
    }

    /// The data of the status page.
    func page() async -> String { await get("\(state.withLock { $0.address })/status").text }

    /// The text of `/metrics`; nil while nobody listens.
    func metrics() async -> Exposition? {
        let answer = await get("\(state.withLock { $0.address })/metrics")
        return answer.status == 200 ? Exposition(answer.text) : nil
    }

    /// Everything that `remint status` prints, with one space between columns.
    func fleet() async throws -> String {
        let status = try await remint("status")
        return (status.outputText + status.errorText).replacing(#/ {2,}/#, with: " ")
    }

    /// The log since the program's start.
    var log: String { state.withLock { $0.subject?.errorText ?? "" } }

    /// The log since the last mark, or since the start of a program that started after it.
    var newLog: String { state.withLock { String(($0.subject?.errorText ?? "").dropFirst($0.mark)) } }

    /// Begins `newLog` here.
    func mark() { state.withLock { $0.mark = $0.subject?.errorText.count ?? 0 } }

    private func get(_ place: String) async -> (status: Int, text: String) {
        guard let url = URL(string: "http://\(place)"),
            let (data, response) = try? await URLSession.shared.data(for: URLRequest(url: url, timeoutInterval: 5))
        else { return (0, "") }
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }
}
