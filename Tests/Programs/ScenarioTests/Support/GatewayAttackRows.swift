import AdapterKit
import Foundation
@_spi(Signing) import JOSE
import Testing

extension AttackKeys {
    /// The rows about sessions and whose they are.
    func sessionRows() throws -> [GatewayAttack] {
        let (hour, day) = ("\(now + 3600)", "\(now + 86_400)")
        var rows: [GatewayAttack] = []
        func row(_ name: String, _ session: String, _ statuses: Set<Int> = [401], _ app: String = "braze-ios") {
            rows.append(
                GatewayAttack(name, statuses, "/v1/apps/\(app)/token?wait=0", ["Authorization: Bearer \(session)"]))
        }
        let good = try session()
        let parts = good.split(separator: ".")
        let other = try session("victim").split(separator: ".")
        let hmac = try SigningKey(
            secret: SecretBytes(copying: try #require(try customers.verificationKey.publicKeyPEM()).utf8),
            algorithm: .hs256, keyID: "session-1")
        let jwk = String(decoding: try #require(try JWK.publicJSON(of: stranger.verificationKey)), as: UTF8.self)
        let again: Set<Int> = [401, 503]
        rows.append(GatewayAttack("no session", [401]))
        row("an empty session", "")
        row("an expired session", try changed(["exp": "\(now - 3600)"]))
        row("a session of tomorrow", try changed(["nbf": day, "exp": "\(now + 90_000)"]))
        row("a session issued tomorrow", try changed(["iat": day, "exp": "\(now + 90_000)"]))
        row("a session without an end", try changed(["exp": nil]))
        row("an end that is a string", try changed(["exp": "\"\(hour)\""]))
        row("another issuer", try changed(["iss": #""https://evil.example""#]))
        row("an issuer with a slash more", try changed(["iss": #""https://login.example/""#]))
        row("an issuer in capitals", try changed(["iss": #""https://LOGIN.example""#]))
        row("an issuer as a list", try changed(["iss": #"["https://login.example"]"#]))
        row("no issuer", try changed(["iss": nil]))
        row("another audience", try changed(["aud": #""support""#]))
        row("no audience", try changed(["aud": nil]))
        row("an audience that only begins so", try changed(["aud": #""shopping""#]))
        row("an audience in capitals", try changed(["aud": #""SHOP""#]))
        row("a stranger's key under the issuer's id", try session("victim", by: stranger), again)
        row("a key that nobody knows", try session("victim", by: unknown), again)
        row("no algorithm", try session("victim", header: ["alg": #""none""#], signature: []))
        row("no algorithm, in capitals", try session("victim", header: ["alg": #""NONE""#], signature: []))
        row("an HMAC with the public key for a secret", try session("victim", by: hmac))
        row("another algorithm than the key's", try session("victim", header: ["alg": #""EdDSA""#]), again)
        row("no signature", "\(parts[0]).\(parts[1]).", again)
        row("another session's signature", "\(parts[0]).\(other[1]).\(parts[2])", again)
        row("a key that the token brings along", try session("victim", by: stranger, header: ["jwk": jwk]), again)
        row(
            "a URL of keys that the token brings along",
            try session("victim", by: unknown, header: ["jku": #""https://evil.example/jwks""#]), again)
        row("a key's id that is a path", try session("victim", header: ["kid": #""../../../etc/passwd""#]), again)
        row("an extension that must be understood", try headed(["crit": #"["x"]"#, "x": "1"]))
        row("a proof instead of a session", try headed(["typ": #""dpop+jwt""#]))
        row("a logout token", try headed(["typ": #""logout+jwt""#]))
        row("a session with five parts", good + ".a.b")
        row("half a session", String(good.prefix(good.count / 2)))
        row("a user that is a number", try changed(["sub": "17"]))
        row("a user that is nobody", try changed(["sub": #""""#]))
        row("a user that is a list", try changed(["sub": #"["ann","victim"]"#]))
        row("a user named twice", try changed(["sub": #""ann","sub":"victim""#]))
        row("a user named twice by an escape", try changed(["sub": #""ann","\u0073ub":"victim""#]))
        row("a user of 1,100 bytes", try session(String(repeating: "u", count: 1100)), [400])
        row("a session bound to something unknown", try changed(["cnf": #"{"x5t#S256":"x"}"#]))
        row("a session bound to a key, as a bearer's", try changed(["cnf": #"{"jkt":"x"}"#]))
        row("customer 17 at the agents' app", try session("17"), [404], "onesignal-shop")
        row("agent 17 at the customers' app", try agent("17"), [404])
        row("a customer with an agent's claim", try session("17", ["agent": #""17""#]), [404], "onesignal-shop")
        row(
            "a customer for the agents' audience too",
            try session("17", ["agent": #""17""#, "aud": #"["shop","support"]"#]), [404], "onesignal-shop")
        row(
            "an agent for the customers' audience too",
            try agent("17", ["sub": #""17""#, "aud": #"["support","shop"]"#]), [404])
        row(
            "the agents' issuer with the customers' key",
            try session("17", ["iss": #""https://support.example""#, "aud": #""support""#, "agent": #""17""#]), again,
            "onesignal-shop")
        row("the customers' issuer with the agents' key", try session("17", by: agents), again)
        row("an app that is not open to devices", good, [404], "dotdigital-push")
        row("an app that is not there", good, [404], "nobodys")
        row("a session without the app's claim", good, [401], "infobip-mobile")
        return rows
    }

    private func changed(_ claims: [String: String?]) throws -> String { try session("ann", claims) }

    private func headed(_ header: [String: String?]) throws -> String { try session("ann", header: header) }

    /// The rows about headers: what is shown twice, in another place or form, and who an address is.
    func headerRows() throws -> [GatewayAttack] {
        let (ann, victim) = (try session(), try session("victim", by: unknown))
        let bearer = "Authorization: Bearer \(ann)"
        let key = "X-Api-Key: \(Gateway.apiKey)"
        let vouched = #"Remint-Vouched: {"user":"victim"}"#
        let braze = "/v1/apps/braze-ios/token?wait=5"
        var rows: [GatewayAttack] = []
        func attack(
            _ name: String, _ statuses: Set<Int>, _ path: String, method: String = "GET", _ headers: [String] = [],
            body: String? = nil, user: String? = nil
        ) {
            rows.append(GatewayAttack(name, statuses, path, method: method, headers, body: body, user: user))
        }
        attack("the honest session", [200], braze, [bearer], user: "ann")
        attack("the honest session in other letters", [200], braze, ["AUTHORIZATION: bEARER \(ann)"], user: "ann")
        attack("a session that vouches for another", [200], braze, [bearer, vouched], user: "ann")
        attack("two sessions", [401], braze, [bearer, "Authorization: Bearer \(victim)"])
        attack("two sessions, the honest one last", [401], braze, ["Authorization: Bearer \(victim)", bearer])
        attack("two sessions in one header", [401], braze, [bearer + ", Bearer \(victim)"])
        attack("a session in the query", [401], braze + "&access_token=\(ann)")
        attack(
            "a session in the query and another in a header", [401],
            "/v1/apps/braze-ios/token/stream?access_token=\(victim)", [bearer])
        attack(
            "two sessions in the query", [401],
            "/v1/apps/braze-ios/token/stream?access_token=\(ann)&access_token=\(victim)")
        attack("a password", [401], braze, ["Authorization: Basic dmljdGltOng="])
        attack("two proofs", [401], braze, [bearer, "DPoP: a.b.c", "DPoP: a.b.c"])
        attack("a proof that is none", [401], braze, [bearer, "DPoP: a.b.c"])
        attack("a proof's scheme without a proof", [401], braze, ["Authorization: DPoP \(ann)"])
        attack("another API key", [401], braze, ["X-Api-Key: rmk_\(String(repeating: "x", count: 43))", vouched])
        attack("an API key in small letters", [401], braze, [key.lowercased(), vouched])
        attack("two API keys", [401], braze, [key, "X-Api-Key: x", vouched])
        attack("an API key that is none, and a session", [401], braze, ["X-Api-Key: x", bearer])
        attack("an API key for another app", [403], braze, ["X-Api-Key: \(Self.scopedKey)", vouched])
        attack(
            "an API key for another app, at one that is not there", [403], "/v1/apps/nobodys/token",
            ["X-Api-Key: \(Self.scopedKey)", vouched])
        attack("an API key that vouches for nobody", [400, 422], braze, [key])
        attack("an API key that vouches in plain text", [400], braze, [key, "Remint-Vouched: victim"])
        attack("an API key that vouches twice", [400], braze, [key, vouched, #"Remint-Vouched: {"user":"ann"}"#])
        attack(
            "an API key that names a user twice", [400], braze,
            [key, #"Remint-Vouched: {"user":"ann","user":"victim"}"#])
        attack("an API key that vouches for a number", [400], braze, [key, #"Remint-Vouched: {"user":17}"#])
        attack("an API key that vouches for a list", [400], braze, [key, #"Remint-Vouched: {"user":["ann"]}"#])
        attack("an API key that vouches for NUL", [400], braze, [key, #"Remint-Vouched: {"user":"a\u0000"}"#])
        for user in ["caf\u{FFFD}", "caf\u{E9}"] {
            attack(
                "an API key that vouches in bytes that are not ASCII", [400], braze,
                [key, "Remint-Vouched: {\"user\":\"\(user)\"}"])
        }
        attack("an API key that vouches for nothing", [400], braze, [key, #"Remint-Vouched: {"user":""}"#])
        attack(
            "a report about another", [403], "/v1/apps/braze-ios/reports", method: "POST",
            [bearer, "Content-Type: application/json"], body: #"{"errorCode":22,"userId":"victim"}"#)
        attack(
            "a report that vouches", [400, 403, 422], "/v1/apps/braze-ios/reports", method: "POST",
            [bearer, "Content-Type: application/json"],
            body: #"{"errorCode":22,"userId":"victim","vouched":{"user":"victim"},"reissue":{"user":"victim"}}"#)
        return rows
    }

    /// The rows about names of apps and users that are nearly another's.
    func spellingRows() throws -> [GatewayAttack] {
        let bearer = "Authorization: Bearer \(try session())"
        let apps = [
            "BRAZE-IOS", "braze-ios.", "braze-ios%20", "%20braze-ios", "braze-ios%00", "braze%252Dios",
            "braze-ios%2Ftoken",
            "braze%2Dios", "braze-ios%2F..%2Fonesignal-shop", "%2E%2E", "braze%E2%80%90ios", "braze-%C0%AFios",
            "braze-io%FF",
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
        return apps + users + controls
    }

    /// The rows about requests that two readers would end in two places.
    func framingRows() throws -> [GatewayAttack] {
        // It is not to be answered: whoever reads it as a request has been led astray.
        let inner =
            "GET /v1/apps/braze-ios/token HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(try session("victim"))\r\n\r\n"
        let bearer = "Authorization: Bearer \(try session())"
        let head = "POST /v1/apps/braze-ios/reports HTTP/1.1\r\nHost: tokens.example\r\nCONTROL\r\n"
        let refused: Set<Int> = [0, 400, 401, 403, 408, 413, 414, 422, 431, 501, 503, 505]
        var rows: [GatewayAttack] = []
        func row(_ name: String, _ raw: String) { rows.append(GatewayAttack(name, refused, raw: raw)) }
        row("a length and chunks", head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner)
        row("chunks and a length", head + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" + inner)
        row("two lengths", head + "Content-Length: 0\r\nContent-Length: \(inner.utf8.count)\r\n\r\n" + inner)
        row("a list of lengths", head + "Content-Length: 0, \(inner.utf8.count)\r\n\r\n" + inner)
        row("a length below nothing", head + "Content-Length: -1\r\n\r\n" + inner)
        row("a length with a sign", head + "Content-Length: +0\r\n\r\n" + inner)
        row("a length in hexadecimal digits", head + "Content-Length: 0x0\r\n\r\n" + inner)
        row("a length beyond all numbers", head + "Content-Length: 99999999999999999999\r\n\r\n" + inner)
        row("an encoding that is nearly chunked", head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner)
        row("chunked twice", head + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n")
        row(
            "an encoding with a tab", head + "Transfer-Encoding:\tchunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n" + inner
        )
        row("a chunk of no length", head + "Transfer-Encoding: chunked\r\n\r\nx\r\n\r\n" + inner)
        row("a chunk of endless length", head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n" + inner)
        row("a space before the colon", head + "Content-Length : 0\r\n\r\n" + inner)
        row("a folded header", head + "X: a\r\n Content-Length: 5\r\n\r\n")
        row("a header without a colon", head + "Nonsense\r\n\r\n" + inner)
        row("a NUL in a header", head + "X: a\u{0}b\r\n\r\n")
        row("line ends without returns", "GET /v1/apps/braze-ios/token HTTP/1.1\nHost: a\nCONTROL\n\n")
        row(
            "a header without an end",
            "GET /x HTTP/1.1\r\nHost: a\r\nCONTROL\r\nX: " + String(repeating: "x", count: 40_000))
        row("a request of another protocol", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        row("a PROXY header that nobody asked for", "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n" + inner)
        rows.append(
            GatewayAttack(
                "a request within a request's body", [200, 400, 401], "/v1/apps/braze-ios/token?wait=5", [bearer],
                body: inner, user: "ann"))
        return rows
    }

    /// An API key for the app `onesignal-shop` alone.
    static let scopedKey = "rmk_scoped0123456789abcdefghijklmnopqrstuvwxyzAB"
}
