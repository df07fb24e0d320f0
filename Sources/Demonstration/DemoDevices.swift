import AdapterKit
import AsyncHTTPClient
import Foundation
import JOSE
import NIOCore
import NIOHTTP1
import Pickup
import Pipeline
import WorkerConfiguration

/// The demonstration's devices: each calls a gateway with its report, and shows its session, or an API key where a session cannot
/// name its user.
struct DemoDevices: Sendable {
    /// What a device was answered.
    struct Answer: Sendable {
        let outcome: Outcome
        /// The answer, where it holds a token.
        let body: JSONValue?
    }

    private let address: String
    private let access: DemoAccess
    private let now: @Sendable () -> UnixTime

    /// - Parameter address: the gateway's host and port.
    init(address: String, access: DemoAccess, now: @escaping @Sendable () -> UnixTime) {
        self.address = address
        self.access = access
        self.now = now
    }

    /// Lets the device of each of `events` call: those of an app one after the other, so that none is answered by the token that
    /// another's report for the same user brings.
    ///
    /// - Throws: `HTTPClientError` where the gateway cannot be reached, `DemoError` where it answers what it should not.
    func call(_ events: [DemoEvent]) async throws -> [String: Answer] {
        try await waitUntilReady()
        return try await withThrowingTaskGroup(of: [(String, Answer)].self) { group in
            for events in Dictionary(grouping: events, by: \.app.name).values {
                group.addTask {
                    var answers: [(String, Answer)] = []
                    for event in events { answers.append((event.id, try await call(event))) }
                    return answers
                }
            }
            var answers: [String: Answer] = [:]
            for try await some in group { answers.merge(some) { first, _ in first } }
            return answers
        }
    }

    private func waitUntilReady() async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while try await HTTPClient.shared.execute(
            HTTPClientRequest(url: "http://\(address)/health/ready"), timeout: .seconds(5)
        ).status != .ok {
            guard .now < deadline else { throw DemoError("the gateway was not ready within half a minute") }
            // A gateway says over HTTP alone whether it has followed the topics, and calls nobody back.
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func call(_ event: DemoEvent) async throws -> Answer {
        let app = PercentEncoding.encoded(event.app.name)
        var request = HTTPClientRequest(url: "http://\(address)/v1/apps/\(app)/reports")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "prefer", value: "wait=20")
        // Each its own, so that none is answered by what another asked for.
        let device = Base64.url.encode(Array(SHA256.hash(Array(event.id.utf8)).prefix(12)))
        request.headers.add(name: "remint-device", value: device)
        for (name, value) in try access.headers(for: event, at: now()) { request.headers.add(name: name, value: value) }
        request.body = .bytes(event.report)
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let body = Array(buffer: try await response.body.collect(upTo: 1 << 20))
        guard let root = try? JSONDocument(parsing: body).root else {
            throw DemoError("the gateway answered \(response.status.code) to \(event.id), without JSON")
        }
        if response.status == .ok { return Answer(outcome: .minted, body: root) }
        guard let code = root["code"]?.string.flatMap(ErrorCode.init(rawValue:)) else {
            throw DemoError(
                "the gateway answered \(response.status.code) to \(event.id): \(root["detail"]?.string ?? "")")
        }
        return Answer(outcome: .deadLettered(code), body: nil)
    }
}
