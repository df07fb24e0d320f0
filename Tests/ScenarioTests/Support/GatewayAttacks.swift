import AdapterKit
import Foundation
@_spi(Signing) import JOSE
import ProgramTestSupport
import Testing

/// A request of the attack table, and what it may be answered.
struct GatewayAttack: Sendable {
    let name: String
    /// The request, but for the headers that every row has.
    var request: String
    /// The statuses that may come of it; 0 for a connection that is closed without an answer.
    let statuses: Set<Int>
    private var isRaw = false
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

    /// A request of these very bytes.
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
    private let now = Int64(Date.now.timeIntervalSince1970)

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
            "iss": #""https://desk.example""#, "aud": #""desk""#, "sub": nil, "agent": Self.text(user),
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

extension AttackKeys {
    /// The rows about sessions and whose they are.
    func sessionRows() throws -> [GatewayAttack] {
        let (hour, day) = ("\(now + 3600)", "\(now + 86_400)")
        func row(_ name: String, _ session: String, _ statuses: Set<Int> = [401], _ app: String = "braze-ios")
            -> GatewayAttack
        { GatewayAttack(name, statuses, "/v1/apps/\(app)/token?wait=0", ["Authorization: Bearer \(session)"]) }
        let good = try session()
        let parts = good.split(separator: ".")
        let other = try session("victim").split(separator: ".")
        let hmac = try SigningKey(
            secret: SecretBytes(copying: try #require(try customers.verificationKey.publicKeyPEM()).utf8),
            algorithm: .hs256, keyID: "session-1")
        let jwk = String(decoding: try #require(try JWK.publicJSON(of: stranger.verificationKey)), as: UTF8.self)
        let again: Set<Int> = [401, 503]
        return [
            GatewayAttack("no session", [401]), row("an empty session", ""),
            row("an expired session", try session(["exp": "\(now - 3600)"])),
            row("a session of tomorrow", try session(["nbf": day, "exp": "\(now + 90_000)"])),
            row("a session issued tomorrow", try session(["iat": day, "exp": "\(now + 90_000)"])),
            row("a session without an end", try session(["exp": nil])),
            row("an end that is a text", try session(["exp": "\"\(hour)\""])),
            row("another issuer", try session(["iss": #""https://evil.example""#])),
            row("an issuer with a slash more", try session(["iss": #""https://login.example/""#])),
            row("an issuer in capitals", try session(["iss": #""https://LOGIN.example""#])),
            row("an issuer as a list", try session(["iss": #"["https://login.example"]"#])),
            row("no issuer", try session(["iss": nil])),
            row("another audience", try session(["aud": #""desk""#])),
            row("no audience", try session(["aud": nil])),
            row("an audience that only begins so", try session(["aud": #""shopping""#])),
            row("an audience in capitals", try session(["aud": #""SHOP""#])),
            row("a stranger's key under the issuer's id", try session("victim", by: stranger), again),
            row("a key that nobody knows", try session("victim", by: unknown), again),
            row("no algorithm", try session("victim", header: ["alg": #""none""#], signature: [])),
            row("no algorithm, in capitals", try session("victim", header: ["alg": #""NONE""#], signature: [])),
            row("an HMAC with the public key for a secret", try session("victim", by: hmac)),
            row("another algorithm than the key's", try session("victim", header: ["alg": #""EdDSA""#]), again),
            row("no signature", "\(parts[0]).\(parts[1])."),
            row("another session's signature", "\(parts[0]).\(other[1]).\(parts[2])", again),
            row("a key that the token brings along", try session("victim", by: stranger, header: ["jwk": jwk]), again),
            row(
                "a URL of keys that the token brings along",
                try session("victim", by: unknown, header: ["jku": #""https://evil.example/jwks""#]), again),
            row("a key's id that is a path", try session("victim", header: ["kid": #""../../../etc/passwd""#]), again),
            row("an extension that must be understood", try session(header: ["crit": #"["x"]"#, "x": "1"])),
            row("a proof instead of a session", try session(header: ["typ": #""dpop+jwt""#])),
            row("a logout token", try session(header: ["typ": #""logout+jwt""#])),
            row("a session with five parts", good + ".a.b"), row("half a session", String(good.prefix(good.count / 2))),
            row("a user that is a number", try session(["sub": "17"])),
            row("a user that is nobody", try session(["sub": #""""#])),
            row("a user that is a list", try session(["sub": #"["ann","victim"]"#])),
            row("a user named twice", try session(["sub": #""ann","sub":"victim""#])),
            row("a user named twice by an escape", try session(["sub": #""ann","\u0073ub":"victim""#])),
            row("a user of 1,100 bytes", try session(String(repeating: "u", count: 1100))),
            row("a session bound to something unknown", try session(["cnf": #"{"x5t#S256":"x"}"#])),
            row("a session bound to a key, as a bearer's", try session(["cnf": #"{"jkt":"x"}"#])),
            row("customer 17 at the agents' app", try session("17"), [404], "onesignal-shop"),
            row("agent 17 at the customers' app", try agent("17"), [404]),
            row("a customer with an agent's claim", try session("17", ["agent": #""17""#]), [404], "onesignal-shop"),
            row(
                "a customer for the agents' audience too",
                try session("17", ["agent": #""17""#, "aud": #"["shop","desk"]"#]), [404], "onesignal-shop"),
            row(
                "an agent for the customers' audience too",
                try agent("17", ["sub": #""17""#, "aud": #"["desk","shop"]"#]), [404]),
            row(
                "the agents' issuer with the customers' key",
                try session("17", ["iss": #""https://desk.example""#, "aud": #""desk""#, "agent": #""17""#]), again,
                "onesignal-shop"),
            row("the customers' issuer with the agents' key", try session("17", by: agents), again),
            row("an app that is not open to devices", good, [404], "dotdigital-push"),
            row("an app that is not there", good, [404], "nobodys"),
            row("a session without the app's claim", good, [401], "infobip-mobile"),
        ]
    }

    private func session(_ claims: [String: String?]) throws -> String { try session("ann", claims) }

    private func session(header: [String: String?]) throws -> String { try session("ann", header: header) }

    /// The rows about headers: what is shown twice, in another place or form, and who an address is.
    func headerRows() throws -> [GatewayAttack] {
        let (ann, victim) = (try session(), try session("victim", by: unknown))
        let bearer = "Authorization: Bearer \(ann)"
        let key = "X-Api-Key: \(Gateway.apiKey)"
        let vouched = #"Remint-Vouched: {"user":"victim"}"#
        let braze = "/v1/apps/braze-ios/token?wait=5"
        return [
            GatewayAttack("the honest session", [200], braze, [bearer], user: "ann"),
            GatewayAttack(
                "the honest session in other letters", [200], braze, ["AUTHORIZATION: bEARER \(ann)"], user: "ann"),
            GatewayAttack("a session that vouches for another", [200], braze, [bearer, vouched], user: "ann"),
            GatewayAttack("two sessions", [401], braze, [bearer, "Authorization: Bearer \(victim)"]),
            GatewayAttack(
                "two sessions, the honest one last", [401], braze, ["Authorization: Bearer \(victim)", bearer]),
            GatewayAttack("two sessions in one header", [401], braze, [bearer + ", Bearer \(victim)"]),
            GatewayAttack("a session in the query", [401], braze + "&access_token=\(ann)"),
            GatewayAttack(
                "a session in the query and another in a header", [401],
                "/v1/apps/braze-ios/token/stream?access_token=\(victim)", [bearer]),
            GatewayAttack(
                "two sessions in the query", [401],
                "/v1/apps/braze-ios/token/stream?access_token=\(ann)&access_token=\(victim)"),
            GatewayAttack("a password", [401], braze, ["Authorization: Basic dmljdGltOng="]),
            GatewayAttack("two proofs", [401], braze, [bearer, "DPoP: a.b.c", "DPoP: a.b.c"]),
            GatewayAttack("a proof that is none", [401], braze, [bearer, "DPoP: a.b.c"]),
            GatewayAttack("a proof's scheme without a proof", [401], braze, ["Authorization: DPoP \(ann)"]),
            GatewayAttack(
                "another API key", [401], braze, ["X-Api-Key: rmk_\(String(repeating: "x", count: 43))", vouched]),
            GatewayAttack("an API key in small letters", [401], braze, [key.lowercased(), vouched]),
            GatewayAttack("two API keys", [401], braze, [key, "X-Api-Key: x", vouched]),
            GatewayAttack("an API key that is none, and a session", [401], braze, ["X-Api-Key: x", bearer]),
            GatewayAttack("an API key for another app", [403], braze, ["X-Api-Key: \(Self.scopedKey)", vouched]),
            GatewayAttack(
                "an API key for another app, at one that is not there", [403], "/v1/apps/nobodys/token",
                ["X-Api-Key: \(Self.scopedKey)", vouched]),
            GatewayAttack("an API key that vouches for nobody", [400, 422], braze, [key]),
            GatewayAttack("an API key that vouches in plain text", [400], braze, [key, "Remint-Vouched: victim"]),
            GatewayAttack(
                "an API key that vouches twice", [400], braze, [key, vouched, #"Remint-Vouched: {"user":"ann"}"#]),
            GatewayAttack(
                "an API key that names a user twice", [400], braze,
                [key, #"Remint-Vouched: {"user":"ann","user":"victim"}"#]),
            GatewayAttack(
                "an API key that vouches for a number", [400], braze, [key, #"Remint-Vouched: {"user":17}"#]),
            GatewayAttack(
                "an API key that vouches for a list", [400], braze, [key, #"Remint-Vouched: {"user":["ann"]}"#]),
            GatewayAttack(
                "an API key that vouches for NUL", [400], braze, [key, #"Remint-Vouched: {"user":"a\u0000"}"#]),
            GatewayAttack("an API key that vouches for nothing", [400], braze, [key, #"Remint-Vouched: {"user":""}"#]),
            GatewayAttack(
                "a report about another", [403], "/v1/apps/braze-ios/reports", method: "POST",
                [bearer, "Content-Type: application/json"], body: #"{"errorCode":22,"userId":"victim"}"#),
            GatewayAttack(
                "a report that vouches", [400, 403, 422], "/v1/apps/braze-ios/reports", method: "POST",
                [bearer, "Content-Type: application/json"],
                body: #"{"errorCode":22,"userId":"victim","vouched":{"user":"victim"},"reissue":{"user":"victim"}}"#),
        ]
    }

    /// The rows about names of apps and users that are nearly another's.
    func spellingRows() throws -> [GatewayAttack] {
        let bearer = "Authorization: Bearer \(try session())"
        let apps = [
            "BRAZE-IOS", "braze-ios.", "braze-ios%20", "%20braze-ios", "braze-ios%00", "braze%252Dios",
            "braze-ios%2Ftoken",
            "braze-ios%2F..%2Fonesignal-shop", "%2E%2E", "braze%E2%80%90ios", "braze-%C0%AFios", "braze-io%FF",
            "braze-ios;x",
        ].map { app in
            GatewayAttack("the app \(app)", [400, 404], "/v1/apps/\(app)/token?wait=0", [bearer])
        }
        let users = [
            "victim ", " victim", "victim.", "Victim", "VICTIM", "victim/", "victim%20", "v%69ctim", "victim\u{200B}",
            "vict\u{131}m",
            "cafe\u{301}", "caf\u{E9}", "app/victim", "../victim", "victim\\", "*", "{\"user\":\"victim\"}",
        ].map { user in
            GatewayAttack(
                "the user \(user.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: "-"))",
                [200, 400, 422, 503], "/v1/apps/braze-ios/token?wait=5",
                ["Authorization: Bearer \((try? session(user)) ?? "")"], user: user)
        }
        let controls = ["victim\u{0}", "victim\n", "\u{7F}victim"].map { user in
            GatewayAttack(
                "a user with a control character", [400, 401, 422], "/v1/apps/braze-ios/token?wait=5",
                ["Authorization: Bearer \((try? session(user)) ?? "")"])
        }
        return apps + users + controls + [
            GatewayAttack(
                "an app whose hyphen is escaped is the same app", [200], "/v1/apps/braze%2Dios/token?wait=5", [bearer],
                user: "ann")
        ]
    }

    /// The rows about requests that two readers would end in two places.
    func framingRows() throws -> [GatewayAttack] {
        // It is not to be answered: whoever reads it as a request has been led astray.
        let inner =
            "GET /v1/apps/braze-ios/token HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(try session("victim"))\r\n\r\n"
        let bearer = "Authorization: Bearer \(try session())"
        let head = "POST /v1/apps/braze-ios/reports HTTP/1.1\r\nHost: tokens.example\r\nCONTROL\r\n"
        let refused: Set<Int> = [0, 400, 401, 403, 408, 413, 422, 431, 501, 503]
        func row(_ name: String, _ raw: String) -> GatewayAttack { GatewayAttack(name, refused, raw: raw) }
        return [
            row(
                "a length and chunks", head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner
            ),
            row(
                "chunks and a length", head + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" + inner
            ),
            row("two lengths", head + "Content-Length: 0\r\nContent-Length: \(inner.utf8.count)\r\n\r\n" + inner),
            row("a list of lengths", head + "Content-Length: 0, \(inner.utf8.count)\r\n\r\n" + inner),
            row("a length below nothing", head + "Content-Length: -1\r\n\r\n" + inner),
            row("a length with a sign", head + "Content-Length: +0\r\n\r\n" + inner),
            row("a length in hexadecimal digits", head + "Content-Length: 0x0\r\n\r\n" + inner),
            row("a length beyond all numbers", head + "Content-Length: 99999999999999999999\r\n\r\n" + inner),
            row("an encoding that is nearly chunked", head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner),
            row("chunked twice", head + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
            row(
                "an encoding with a tab",
                head + "Transfer-Encoding:\tchunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n" + inner),
            row("a chunk of no length", head + "Transfer-Encoding: chunked\r\n\r\nx\r\n\r\n" + inner),
            row("a chunk of endless length", head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n" + inner),
            row("a space before the colon", head + "Content-Length : 0\r\n\r\n" + inner),
            row("a folded header", head + "X: a\r\n Content-Length: 5\r\n\r\n"),
            row("a header without a colon", head + "Nonsense\r\n\r\n" + inner),
            row("a NUL in a header", head + "X: a\u{0}b\r\n\r\n"),
            row("line ends without returns", "GET /v1/apps/braze-ios/token HTTP/1.1\nHost: a\nCONTROL\n\n"),
            row(
                "a header without an end",
                "GET /x HTTP/1.1\r\nHost: a\r\nCONTROL\r\nX: " + String(repeating: "x", count: 40_000)),
            row("a request of another protocol", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
            row("a PROXY header that nobody asked for", "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n" + inner),
            GatewayAttack(
                "a request within a request's body", [200, 400, 401], "/v1/apps/braze-ios/token?wait=5", [bearer],
                body: inner,
                user: "ann"),
        ]
    }

    /// An API key for the app `onesignal-shop` alone.
    static let scopedKey = "rmk_scoped0123456789abcdefghijklmnopqrstuvwxyzAB"
}
