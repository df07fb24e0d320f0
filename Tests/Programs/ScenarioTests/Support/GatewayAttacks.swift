import AdapterKit
import Foundation
@_spi(Signing) import JOSE

/// A request of the attack table, and what it may be answered.
struct GatewayAttack: Sendable {
    let name: String
    /// The request, but for the headers that every row has.
    var request: String
    /// The statuses that may come of it; 0 for a connection that is closed without an answer.
    let statuses: Set<Int>
    /// Whether the request is sent byte for byte. Its connection may stay open without an answer.
    private(set) var isRaw = false
    /// The user of the token that comes with a 200; nil where none may.
    var user: String?

    /// A call with `headers`, as the table has it.
    init(
        _ name: String, _ statuses: Set<Int>, _ path: String = "/v1/apps/braze-ios/token?wait=0",
        method: String = "GET", _ headers: [String] = [], body: String? = nil, user: String? = nil
    ) {
        self.name = name
        self.statuses = statuses
        self.user = user
        let length = body.map { ["Content-Length: \($0.utf8.count)"] } ?? []
        request = (["\(method) \(path) HTTP/1.1", "Host: tokens.example"] + headers + length).joined(separator: "\r\n")
        request += "\r\nCONTROL\r\n\r\n" + (body ?? "")
    }

    init(_ name: String, _ statuses: Set<Int>, raw: String) {
        (self.name, self.statuses, request, isRaw) = (name, statuses, raw, true)
    }

    /// The request as it is sent by the row of this number, each from an address of its own. A row of bytes leaves the connection open
    /// for what may follow.
    func bytes(_ number: Int) -> [UInt8] {
        let address = "X-Forwarded-For: 198.51.\(number / 250).\(number % 250 + 1)"
        return Array(request.replacing("CONTROL", with: isRaw ? address : address + "\r\nConnection: close").utf8)
    }
}

/// The keys of the table: a customer's issuer, the agents' issuer, and a stranger.
struct AttackKeys: Sendable {
    let customers, agents, stranger, unknown: SigningKey
    let now = Int64(Date.now.timeIntervalSince1970)

    init() throws {
        customers = try SigningKey.generate(.es256, keyID: "session-1")
        agents = try SigningKey.generate(.eddsa, keyID: "agents-1")
        stranger = try SigningKey.generate(.es256, keyID: "session-1")
        unknown = try SigningKey.generate(.es256, keyID: "session-9")
    }

    /// A token of JSON texts, a good session of the customer `user` unless it is changed. A member that is nil is left out.
    func session(
        _ user: String = "ann", by key: SigningKey? = nil, _ claims: [String: String?] = [:],
        header: [String: String?] = [:], signature: [UInt8]? = nil
    ) throws -> String {
        let key = key ?? customers
        let all: [String: String?] = [
            "iss": #""https://login.example""#, "aud": #""shop""#, "sub": Self.text(user), "iat": "\(now - 5)",
            "exp": "\(now + 3600)",
        ]
        let names: [String: String?] = [
            "alg": "\"\(key.algorithm.rawValue)\"", "kid": "\"\(key.keyID ?? "")\"", "typ": #""JWT""#,
        ]
        let input =
            Base64.url.encode(Self.object(names.merging(header) { $1 })) + "."
            + Base64.url.encode(Self.object(all.merging(claims) { $1 }))
        return input + "." + Base64.url.encode(try signature ?? Signer(key).sign(Array(input.utf8)))
    }

    /// A good session of the agent `user`.
    func agent(_ user: String, _ claims: [String: String?] = [:]) throws -> String {
        let own: [String: String?] = [
            "iss": #""https://support.example""#, "aud": #""support""#, "sub": nil, "agent": Self.text(user),
        ]
        return try session(user, by: agents, own.merging(claims) { $1 })
    }

    static func text(_ text: String) -> String {
        var json = JSONWriter()
        json.string(text)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func object(_ members: [String: String?]) -> [UInt8] {
        let known = members.compactMap { name, value in value.map { (name, $0) } }.sorted { $0.0 < $1.0 }
        return Array(("{" + known.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}").utf8)
    }
}
