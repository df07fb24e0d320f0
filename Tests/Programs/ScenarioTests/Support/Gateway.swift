import AdapterKit
import AsyncTestSupport
import Foundation
import FoundationNetworking
@_spi(Signing) import JOSE
import ProgramTestSupport
import Testing

/// A gateway in a process of its own, in front of a shop's broker, with sessions and an API key that count there.
struct Gateway {
    struct Answer {
        let status: Int
        let headers: [String: String]
        let body: JSONValue?
        let text: String

        func text(_ name: String) -> String? { body?[name]?.string }

        /// The state of a dependency, in an answer of `/health/ready`.
        func dependency(_ name: String) -> String? { body?["dependencies"]?[name]?.string }
    }

    static let apiKey = "rmk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
    let program: Program
    let address: String
    let metrics: String
    let file: URL
    private let programs: Programs
    private let key: SigningKey

    /// Limits that no test reaches by itself.
    static let noLimits = [
        "user_rate: 10000", "caller_rate: 10000", "address_rate: 100000", "refused_rate: 100000", "total_rate: 100000",
    ]

    private static func hash(of key: String) -> String {
        SHA256.hash(Array(key.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Starts a gateway for the apps of `shop`.
    ///
    /// - Parameters:
    ///   - issuer: what sessions are signed with at first; by default a key of its own.
    ///   - keySet: where the issuer's keys are; by default in a file.
    ///   - apps: what the entries of apps under `pickup.apps` have beside the issuer; every app of the shop has one.
    ///   - drain: how long it still serves after SIGTERM.
    ///   - entries: the lines of `pickup.apps`, in place of those.
    ///   - limits: lines that set limits; by default they are out of the way.
    ///   - scopedKey: another API key, for the app `onesignal-shop` alone.
    ///   - more: further lines of the section.
    ///   - brokers: other brokers than the shop's, which it is not waited for to have read.
    ///   - untilReady: whether to wait until it is ready.
    @discardableResult
    static func start(
        _ shop: borrowing Shop, issuer: SigningKey? = nil, keySet: String? = nil, apps: [String: String] = [:],
        drain: String = "0s", entries: [String]? = nil, limits: [String] = noLimits, scopedKey: String? = nil,
        more: [String] = [],
        brokers: String? = nil, untilReady isReady: Bool = true
    ) async throws -> Gateway {
        let key = try issuer ?? SigningKey.generate(.es256, keyID: "session-1")
        let metrics = "127.0.0.1:\(try freePort())"
        let set = shop.folder.appending(path: "sessions.json")
        try Data(try JWK.setJSON(of: [key.verificationKey])).write(to: set)
        let scoped = scopedKey.map { ", scoped: { hash: \(hash(of: $0)), apps: [onesignal-shop] }" } ?? ""
        let section = [
            "pickup:", "  listen: 127.0.0.1:0", "  metrics: \(metrics)", "  drain: \(drain)",
            "  session: { issuer: https://login.example, audience: shop, jwks: '\(keySet ?? set.path)', cool_down: 1s }",
            "  api_keys: { backend: { hash: \(hash(of: apiKey)) }\(scoped) }",
        ]
        let text = try String(contentsOfFile: shop.configuration, encoding: .utf8)
        let opened =
            entries?.map { "    \($0)" }
            ?? text.matches(of: /(?m)^  ([a-z0-9-]+):\n(?:    .*\n)??    adapter:/).map { match in
                let more = apps[String(match.1)].map { ", \($0)" } ?? ""
                return "    \(match.1): { issuer: https://login.example\(more) }"
            }
        let file = shop.folder.appending(path: "pickup.yaml")
        try Data(
            (text + "\n"
                + (section + limits.map { "  \($0)" } + ["  apps:"] + opened + more.map { "  \($0)" }).joined(
                    separator: "\n") + "\n")
                .utf8
        ).write(to: file)
        let program = shop.programs.add(
            try Program(
                Repository.remint, ["pickup", "--config", file.path] + (brokers.map { ["--brokers", $0] } ?? [])))
        try #require(await program.logged("gateway.listening"), "\(program.errorText)")
        let match = try #require(program.errorText.firstMatch(of: /remint\.pickup\.address=([0-9.:]+)/))
        let address = String(match.1)
        let gateway = Gateway(
            program: program, address: address, metrics: metrics, file: file, programs: shop.programs, key: key)
        if brokers == nil, isReady { _ = try await gateway.health { $0.status == 200 } }
        return gateway
    }

    /// A session of `user`.
    func session(
        _ user: String, issuer: String = "https://login.example", audience: String = "shop",
        lives seconds: Int64 = 3600,
        by other: SigningKey? = nil, boundTo thumbprint: String? = nil
    ) throws -> String {
        let key = other ?? key
        let now = Int64(Date.now.timeIntervalSince1970)
        let bound = thumbprint.map { #","cnf":{"jkt":"\#($0)"}"# } ?? ""
        let claims =
            #"{"iss":"\#(issuer)","aud":"\#(audience)","sub":"\#(user)","iat":\#(now - 1),"exp":\#(now + seconds)\#(bound)}"#
        let header = #"{"alg":"\#(key.algorithm.rawValue)","kid":"\#(key.keyID ?? "")"}"#
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(claims.utf8))
        return input + "." + Base64.url.encode(try Signer(key).sign(Array(input.utf8)))
    }

    /// Opens a stream of `app` with `session`; what comes is in its standard error.
    func stream(_ app: String, _ session: String, _ headers: String...) throws -> Program {
        programs.add(
            client: try Program(
                "curl",
                ["-sN", "--max-time", "300", "-o", "/dev/stderr", "-H", "Authorization: Bearer \(session)"]
                    + headers.flatMap { ["-H", $0] } + ["http://\(address)/v1/apps/\(app)/token/stream"]))
    }

    /// The text of `/metrics`.
    func scrape() async throws -> String {
        let url = try #require(URL(string: "http://\(metrics)/metrics"))
        return String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
    }

    func call(
        _ path: String, method: String = "GET", session: String? = nil, headers: [String: String] = [:],
        body: [UInt8]? = nil
    ) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: "http://\(address)\(path)")), timeoutInterval: 40)
        request.httpMethod = method
        if let session { request.setValue("Bearer \(session)", forHTTPHeaderField: "Authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.httpBody = body.map { Data($0) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        var fields: [String: String] = [:]
        for (name, value) in http.allHeaderFields { fields["\(name)".lowercased()] = "\(value)" }
        return Answer(
            status: http.statusCode, headers: fields, body: try? JSONDocument(parsing: Array(data)).root,
            text: String(decoding: data, as: UTF8.self))
    }

    /// Makes a call until the brokers have accepted its event: a busy machine's brokers may take longer than the call.
    func acceptedCall(_ path: String, session: String, headers: [String: String] = [:]) async throws -> Answer {
        try await eventualValue("the brokers' acceptance") {
            let answer = try await call(path, session: session, headers: headers)
            return answer.status == 503 && answer.text("code") == "unavailable" ? nil : answer
        }
    }

    /// Sends a report and waits for its token.
    func report(_ report: [UInt8], _ app: String, session: String? = nil, vouched: String? = nil) async throws -> Answer
    {
        var headers = ["Prefer": "wait=20"]
        if let vouched {
            headers["X-Api-Key"] = Self.apiKey
            headers["Remint-Vouched"] = vouched
        }
        return try await call(
            "/v1/apps/\(app)/reports", method: "POST", session: session, headers: headers, body: report)
    }

    /// A port that nobody has: the gateway does not report which one the system gave it for its metrics.
    static func freePort() throws -> Int { try FreePort.find() }

    /// Waits until `/health/ready` has an answer that `isWanted`.
    func health(until isWanted: (Answer) -> Bool) async throws -> Answer {
        try await eventualValue("the expected answer of /health/ready", within: .seconds(240)) {
            let answer = try await call("/health/ready")
            return isWanted(answer) ? answer : nil
        }
    }

    func stop() async {
        program.terminate()
        await program.waitForEnd()
    }
}
