import Foundation
import Kafka
import ProgramTestSupport
import Testing

/// A campaign on the cluster for one app: its users, its operator, its vendor.
struct Canary: Sendable {
    static let app = "braze-ios"
    /// The loop guard remembers the users that the vendor refuses, and suspends nobody.
    static let wishes = Shop.Wishes(partitions: 3, worker: ["admission: { suspend_after: 100000 }"])

    let shop: Shop

    // MARK: The operator

    func remint(_ arguments: [String]) async throws -> Program {
        try await Program.run(Repository.remint, arguments + ["--config", configuration])
    }

    func rotate(_ step: String, _ options: String...) async throws -> Program {
        try await remint(["rotate", step, "--key", Self.app] + options)
    }

    func does(_ step: String, _ options: String...) async throws {
        let program = try await remint(["rotate", step, "--key", Self.app] + options)
        try #require(program.status == 0, "\(step): \(program.errorText)")
    }

    /// A step that goes on while the test does.
    func starts(_ step: String, _ options: String...) throws -> Program {
        try Program(
            Repository.remint, ["rotate", step, "--key", Self.app, "--config", configuration] + options)
    }

    func newest() throws -> String {
        let ring = KeyRingFile(folder: shop.folder.appending(path: "keys/\(Self.app)"))
        return try #require(try ring.versions().last?["id"])
    }

    var configured: [String] { ["--config", configuration] }

    private var configuration: String { shop.configuration }

    // MARK: Workers

    func startWorker() async throws -> Program {
        let worker = try shop.startProgram()
        try #require(await worker.logged("partitions.assigned"), "\(worker.lastLines)")
        return worker
    }

    func stop(_ worker: Program) async {
        worker.terminate()
        await worker.waitForEnd()
    }

    // MARK: Users and their vendor

    /// Gives a token to each of `count` users.
    func issue(_ count: Int) async throws {
        try await report((0..<count).map { #"{"code":22,"userId":"u\#($0)"}"# })
        try await shop.waitForTokens(count)
    }

    /// The users of `count` reports get a token each, wherever it lies.
    func report(_ count: Int) async throws {
        try await report((0..<count).map { #"{"code":22,"userId":"u\#($0)"}"# })
        try await waitUntilConsumed()
    }

    /// Live tokens of `version` by `remint ledger`.
    func liveTokens(of version: String) async throws -> Int {
        let program = try await remint(["ledger", "--json", "--key", Self.app, "--key-id", version])
        try #require(program.status == 0, "\(program.errorText)")
        return try program.outputText.split(separator: "\n").reduce(0) { sum, line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return sum + (object?["live"] as? Int ?? 0)
        }
    }

    /// Waits until the worker has passed everything on the topic of the live lane.
    private func waitUntilConsumed() async throws {
        try await TopicReader.waitUntilCommitted(shop.partitions(of: [shop.topics.live]), by: shop.group)
    }

    /// The records of the tokens of `version`.
    func tokens(of version: String) async throws -> [ConsumedRecord] {
        try await shop.tokens().filter { $0.header("remint-key-id") == version }
    }

    /// Has the vendor refuse `tokens`, and their users' devices report it; waits until the worker heard of each.
    func refuse(_ tokens: some Collection<ConsumedRecord>) async throws {
        try await report(
            tokens.compactMap { token in
                guard let jwt = token.member("token"), let key = token.key else { return nil }
                let user = String(decoding: key.dropFirst(Self.app.utf8.count + 1), as: UTF8.self)
                return #"{"code":23,"userId":"\#(user)","signature":"\#(jwt)"}"#
            })
        try await waitUntilConsumed()
    }

    private func report(_ reports: [String]) async throws {
        try await shop.deliver(
            reports.map {
                ProducerRecord(
                    topic: shop.topics.live, key: nil, value: Array($0.utf8),
                    headers: [RecordHeader("remint-app", Self.app)])
            })
    }

    /// Writes `count` small letters of another app to the dead-letter topic.
    func writeLetters(_ count: Int) async throws {
        let letter = ProducerRecord(
            topic: shop.topics.deadLetters, key: nil, value: Array(#"{"app":"nobody"}"#.utf8),
            headers: [RecordHeader("remint-error-code", "unknown_app"), RecordHeader("remint-error-stage", "decode")])
        for first in stride(from: 0, to: count, by: 20_000) {
            try await shop.deliver(Array(repeating: letter, count: min(20_000, count - first)))
        }
    }
}
