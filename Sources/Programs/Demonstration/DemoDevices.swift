import Access
import AdapterKit
import Foundation
import HTTPTransport
import JOSE
import Pickup
import Pipeline
import WorkerConfiguration

/// The demonstration's devices: each calls a gateway with its report, and shows its session, or an API key where a session cannot
/// name its user.
struct DemoDevices: Sendable {
    /// The gateway's answer to a device.
    struct Answer: Sendable {
        let outcome: Outcome
        /// The answer, where it holds a token.
        let body: JSONValue?
    }

    /// The longest call: a device waits for 20 seconds.
    private static let longestCall = Duration.seconds(30)
    /// The most devices that call at one time.
    private static let connections = 64

    private let address: String
    private let access: DemoAccess
    private let now: @Sendable () -> UnixTime

    /// - Parameter address: the gateway's host and port.
    init(address: String, access: DemoAccess, now: @escaping @Sendable () -> UnixTime) {
        self.address = address
        self.access = access
        self.now = now
    }

    /// Makes the device of each of `events` call. Devices of one app call one after the other, so that none is answered
    /// by the token for another one's report about the same user.
    ///
    /// - Throws: `TransportError` where the gateway cannot be reached, `DemoError` where it returns a wrong answer.
    func call(_ events: [DemoEvent]) async throws -> [String: Answer] {
        let transport = HTTPTransport(limit: Self.longestCall, connections: Self.connections)
        let answers: Result<[String: Answer], any Error>
        do { answers = .success(try await call(events, by: transport)) } catch { answers = .failure(error) }
        await transport.close()
        return try answers.get()
    }

    private func call(_ events: [DemoEvent], by transport: HTTPTransport) async throws -> [String: Answer] {
        try await waitUntilReady(transport)
        return try await withThrowingTaskGroup(of: [(String, Answer)].self) { group in
            for events in Dictionary(grouping: events, by: \.app.name).values {
                group.addTask {
                    var answers: [(String, Answer)] = []
                    for event in events { answers.append((event.id, try await call(event, by: transport))) }
                    return answers
                }
            }
            var answers: [String: Answer] = [:]
            for try await some in group { answers.merge(some) { first, _ in first } }
            return answers
        }
    }

    private func waitUntilReady(_ transport: HTTPTransport) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        let request = TransportRequest(
            url: "http://\(address)/health/ready", host: address, reading: .body(upTo: 1 << 20))
        while try await transport.send(request, within: .seconds(5)).status != 200 {
            guard .now < deadline else { throw DemoError("the gateway was not ready within half a minute") }
            // A gateway reports over HTTP alone whether it has followed the topics, and calls nobody back.
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func call(_ event: DemoEvent, by transport: HTTPTransport) async throws -> Answer {
        let app = PercentEncoding.encoded(event.app.name)
        // Each its own, so that none is answered by what another asked for.
        let device = Base64.url.encode(Array(SHA256.hash(Array(event.id.utf8)).prefix(12)))
        var headers = [
            (name: "content-type", value: "application/json"), (name: "prefer", value: "wait=20"),
            (name: "remint-device", value: device),
        ]
        for (name, value) in try access.headers(for: event, at: now()) { headers.append((name: name, value: value)) }
        let request = TransportRequest(
            "POST", url: "http://\(address)/v1/apps/\(app)/reports", host: address, headers: headers,
            body: Array(event.report), reading: .body(upTo: 1 << 20))
        let response = try await transport.send(request, within: Self.longestCall)
        let body = response.body
        guard let root = try? JSONDocument(parsing: body).root else {
            throw DemoError("the gateway answered \(response.status) to \(event.id), without JSON")
        }
        if response.status == 200 { return Answer(outcome: .minted, body: root) }
        guard let code = root["code"]?.string.flatMap(ErrorCode.init(rawValue:)) else {
            throw DemoError(
                "the gateway answered \(response.status) to \(event.id): \(root["detail"]?.string ?? "")")
        }
        return Answer(outcome: .deadLettered(code), body: nil)
    }
}

/// The credentials that the demonstration's devices show a gateway. They are sessions of a login of their own, and a
/// backend's API key for users with several ids, which a session does not name.
struct DemoAccess: Sendable {
    private let login: SampleLogin
    private let apiKey: APIKey.Generated

    /// Makes keys, and writes the login's public one into `folder`.
    init(folder: URL) throws {
        login = try SampleLogin()
        apiKey = try APIKey.generate(random: SecretBytes.random(count:))
        try login.keySet.write(to: folder.appending(path: "sessions.json"))
    }

    /// Returns the gateway's section of a configuration in the same folder, whose `apps` all sessions open.
    func yaml(apps: [String]) -> String {
        """
        pickup:
          listen: 127.0.0.1:0
          user_rate: 100000
          caller_rate: 100000
          address_rate: 100000
          refused_rate: 100000
          total_rate: 100000
          session: { issuer: \(SampleLogin.issuer), jwks: sessions.json }
          apps: { \(apps.map { "\($0): { issuer: \(SampleLogin.issuer) }" }.joined(separator: ", ")) }
          api_keys: { backend: { hash: \(apiKey.hash) } }

        """
    }

    /// Returns the headers that identify the device of `event`.
    func headers(for event: DemoEvent, at now: UnixTime) throws -> [(String, String)] {
        // A session names a user and no further members.
        if let vouched = event.vouched { return backend(vouchingFor: vouched) }
        switch event.user ?? .somebody {
        case .user(let user): return [("authorization", "Bearer \(try login.session(of: user, at: now))")]
        case .identifiers(let ids): return backend(vouchingFor: Self.members(ids))
        }
    }

    private func backend(vouchingFor members: [UInt8]) -> [(String, String)] {
        [
            ("x-api-key", apiKey.text.withBytes { String(decoding: $0, as: UTF8.self) }),
            ("remint-vouched", String(decoding: members, as: UTF8.self)),
        ]
    }

    private static func members(_ ids: [(name: String, value: String)]) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("ids")
        json.beginObject()
        for id in ids { json.member(id.name, id.value) }
        json.endObject()
        json.endObject()
        return json.bytes
    }
}
