import Access
import JOSE
import Testing

/// A session with something changed, and what becomes of it.
struct SessionCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var claims: Changes = [:]
    var header: Changes = [:]
    /// Nil for a session that is taken.
    let reason: AccessRefusal.Reason?

    private static func refused(
        _ reason: AccessRefusal.Reason, _ what: String, _ claims: Changes = [:], header: Changes = [:]
    ) -> SessionCase {
        SessionCase(testDescription: "\(what): \(reason)", claims: claims, header: header, reason: reason)
    }

    private static func taken(_ what: String, _ claims: Changes = [:], header: Changes = [:]) -> SessionCase {
        SessionCase(testDescription: "\(what): taken", claims: claims, header: header, reason: nil)
    }

    static let all = times + parties + users + headers + bindings

    /// `now` is 1,700,000,000 and clocks may differ by 30 seconds.
    private static let times = [
        taken("as it is"), taken("ends in a second", ["exp": "1700000001"]),
        taken("expired 29 seconds ago", ["exp": "1699999971"]),
        refused(.expired, "expired 30 seconds ago", ["exp": "1699999970"]),
        refused(.expired, "expired long ago", ["exp": "0"]), refused(.expired, "expired before 1970", ["exp": "-1"]),
        taken("a fraction of a second left", ["exp": "1699999970.5"]),
        taken("an exponent", ["exp": "1.70001e9"]), taken("ends in nine years", ["exp": "1983824000"]),
        refused(.expiryInMilliseconds, "ends in an hour, in milliseconds", ["exp": "1700003600000"]),
        refused(.expiryInMilliseconds, "ends in the year 9999", ["exp": "253402300799"]),
        refused(.expiryInMilliseconds, "ends beyond all times", ["exp": "1e300"]),
        refused(.malformed, "ends at no number", ["exp": "1e999"]),
        refused(.noExpiry, "no end", ["exp": nil]), refused(.malformed, "its end is null", ["exp": "null"]),
        refused(.malformed, "its end is a string", ["exp": #""1700003600""#]),
        refused(.malformed, "its end is a list", ["exp": "[1700003600]"]),
        taken("began now", ["nbf": "1700000000"]), taken("begins in 30 seconds", ["nbf": "1700000030"]),
        refused(.notYetValid, "begins in 31 seconds", ["nbf": "1700000031"]),
        refused(.malformed, "its beginning is a string", ["nbf": #""1""#]),
        taken("issued in 30 seconds", ["iat": "1700000030"]), taken("no moment of issue", ["iat": nil]),
        refused(.notYetValid, "issued in 31 seconds", ["iat": "1700000031"]),
        refused(.malformed, "its issue is null", ["iat": "null"]),
    ]

    private static let parties = [
        refused(.wrongIssuer, "another issuer", ["iss": #""https://id.example.org""#]),
        refused(.wrongIssuer, "a slash more", ["iss": #""https://id.example/""#]),
        refused(.wrongIssuer, "in capitals", ["iss": #""https://ID.example""#]),
        refused(.wrongIssuer, "no issuer", ["iss": nil]), refused(.wrongIssuer, "null", ["iss": "null"]),
        refused(.wrongIssuer, "a list", ["iss": #"["https://id.example"]"#]),
        taken("an escape in the issuer", ["iss": #""https:\/\/id.example""#]),
        taken("one of several audiences", ["aud": #"["a",7,null,"shop"]"#]),
        refused(.wrongAudience, "another audience", ["aud": #""shop2""#]),
        refused(.wrongAudience, "other audiences", ["aud": #"["a","b"]"#]),
        refused(.wrongAudience, "no audiences", ["aud": "[]"]), refused(.wrongAudience, "no audience", ["aud": nil]),
        refused(.wrongAudience, "an object", ["aud": #"{"shop":"shop"}"#]),
        refused(.wrongAudience, "a list in a list", ["aud": #"[["shop"]]"#]),
        // What is wrong first is said first, before any key is looked for.
        refused(.expired, "expired, of an unknown key", ["exp": "1"], header: ["kid": #""z""#]),
        refused(.wrongIssuer, "a foreign token", ["iss": #""x""#], header: ["kid": #""z""#]),
    ]

    private static let longUser: Changes = ["sub": "\"" + String(repeating: "u", count: 1025) + "\""]

    private static let users = [
        refused(.noUser, "no user", ["sub": nil]), refused(.noUser, "null", ["sub": "null"]),
        refused(.noUser, "a number", ["sub": "42"]), refused(.noUser, "a list", ["sub": #"["u-42"]"#]),
        refused(.noUser, "an object", ["sub": #"{"id":"u-42"}"#]), refused(.noUser, "true", ["sub": "true"]),
        refused(.noUser, "an empty user", ["sub": #""""#]),
        taken("a user of 1,024 bytes", ["sub": "\"" + String(repeating: "é", count: 512) + "\""]),
        refused(.userTooLong, "a user of 1,025 bytes", longUser),
        // A token that is no session gets no answer about its user.
        refused(.unknownKey, "a user of 1,025 bytes, of an unknown key", longUser, header: ["kid": #""z""#]),
        refused(.expired, "a user of 1,025 bytes, expired", longUser.merging(["exp": "1"]) { $1 }),
    ]

    private static let headers = [
        refused(.unknownKey, "an unknown key", header: ["kid": #""z""#]),
        refused(.unknownKey, "a key's name in another spelling", header: ["kid": #""A""#]),
        refused(.malformed, "a key's name that is a number", header: ["kid": "7"]),
        refused(.unknownKey, "a long key's name", header: ["kid": "\"" + String(repeating: "a", count: 1025) + "\""]),
        refused(
            .tooLarge, "a key's name of 100 kB", header: ["kid": "\"" + String(repeating: "a", count: 100_000) + "\""]),
        taken("no key's name", header: ["kid": nil]), taken("no type", header: ["typ": nil]),
        taken("an access token (RFC 9068)", header: ["typ": #""at+jwt""#]),
        taken("a long type", header: ["typ": #""application/JWT""#]),
        refused(.wrongType, "a proof", header: ["typ": #""dpop+jwt""#]),
        refused(.wrongType, "a proof, spelt out", header: ["typ": #""Application/DPoP+JWT""#]),
        refused(.wrongType, "a JWE", header: ["typ": #""JWE""#]),
        refused(.wrongType, "a logout", header: ["typ": #""logout+jwt""#]),
        refused(.malformed, "a type that is none", header: ["typ": "null"]),
        refused(.malformed, "critical", header: ["crit": #"["exp"]"#]),
        refused(.malformed, "unencoded", header: ["crit": #"["b64"]"#, "b64": "false"]),
        refused(.wrongAlgorithm, "none", header: ["alg": #""none""#]),
        refused(.wrongAlgorithm, "None", header: ["alg": #""None""#]),
        refused(.wrongAlgorithm, "an empty algorithm", header: ["alg": #""""#]),
        refused(.malformed, "no algorithm", header: ["alg": nil]),
        refused(.wrongAlgorithm, "one not allowed", header: ["alg": #""ES512""#]),
        refused(.wrongAlgorithm, "HMAC", header: ["alg": #""HS256""#]),
        refused(.badSignature, "the algorithm of another key", header: ["alg": #""RS256""#]),
        taken("a key in the header is nobody's", header: ["jwk": #"{"kty":"oct","k":"AAAA"}"#]),
    ]

    private static let bindings = [
        taken("bound to a key", ["cnf": #"{"jkt":"x"}"#]),
        refused(.unknownBinding, "bound to a certificate", ["cnf": ##"{"x5t#S256":"x"}"##]),
        refused(.unknownBinding, "bound to both", ["cnf": ##"{"jkt":"x","x5t#S256":"x"}"##]),
        refused(.unknownBinding, "bound to a number", ["cnf": #"{"jkt":7}"#]),
        refused(.unknownBinding, "bound to nothing", ["cnf": "{}"]),
        refused(.unknownBinding, "bound to a string", ["cnf": #""x""#]),
        refused(.unknownBinding, "bound to null", ["cnf": "null"]),
    ]
}

@Suite("Sessions")
struct SessionTests {
    private let key: SigningKey
    private let verifier: SessionVerifier

    init() throws {
        key = try SampleIssuer.key(.es256)
        verifier = try SampleIssuer.verifier([key])
    }

    @Test func `a verified session has its issuer, user, expiry and bound key`() async throws {
        let token = try SampleIssuer.session(key, ["cnf": #"{"jkt":"x"}"#])
        let session = try await verifier.verify(token, now: SampleIssuer.now)
        #expect(session.issuer == "https://id.example")
        #expect(session.user(by: "sub") == "u-42")
        #expect(session.expiry == UnixTime(seconds: 1_700_003_600))
        #expect(session.boundKey == "x")
    }

    @Test(arguments: SessionCase.all)
    func `a session is accepted, or refused with its reason`(_ example: SessionCase) async throws {
        let token = try SampleIssuer.session(key, example.claims, header: example.header)
        guard let reason = example.reason else {
            _ = try await verifier.verify(token, now: SampleIssuer.now)
            return
        }
        await expectRefusal(reason) { try await verifier.verify(token, now: SampleIssuer.now) }
    }

    @Test func `an empty text is no session`() async {
        await expectRefusal(.noSession) { try await verifier.verify([], now: SampleIssuer.now) }
    }

    @Test(arguments: [
        ".", "..", "a.b.c", "e30.e30.", "null", "Bearer x", "\u{0}", "é", String(repeating: ".", count: 8192),
    ])
    func `garbage is malformed`(text: String) async {
        await expectRefusal(.malformed) { try await verifier.verify(Array(text.utf8), now: SampleIssuer.now) }
    }

    @Test func `a huge session is refused before it is read`() async {
        for count in [8193, 10_000_000] {
            let token = [UInt8](repeating: UInt8(ascii: "."), count: count)
            await expectRefusal(.tooLarge) { try await verifier.verify(token, now: SampleIssuer.now) }
        }
    }

    @Test(arguments: ["iss", "aud", "sub", "exp", #"\u0073ub"#])
    func `a duplicate claim is refused, whichever is right`(name: String) async throws {
        let claims = #"{"\#(name)":"x","iss":"https://id.example","aud":"shop","sub":"u","exp":1700003600,"x":{}}"#
        let token = try SampleToken.make(key, claims: claims, header: #"{"alg":"ES256","kid":"a"}"#)
        await expectRefusal(.malformed) { try await verifier.verify(token, now: SampleIssuer.now) }
    }

    @Test func `a signature that is another's, or was changed, is bad`() async throws {
        let other = try SampleIssuer.key(.es256)
        await expectRefusal(.badSignature) {
            try await verifier.verify(try SampleIssuer.session(other), now: SampleIssuer.now)
        }
        let token = try SampleIssuer.session(key)
        let foreign = try SampleIssuer.session(key, ["sub": #""u-43""#])
        let parts = token.split(separator: UInt8(ascii: "."))
        let others = foreign.split(separator: UInt8(ascii: "."))
        let mixed = Array([parts[0], others[1], parts[2]].joined(separator: [UInt8(ascii: ".")]))
        await expectRefusal(.badSignature) { try await verifier.verify(mixed, now: SampleIssuer.now) }
    }

    @Test func `an app may name its users by another claim`() async throws {
        let token = try SampleIssuer.session(key, ["customer": #""c-7""#, "n": "7"])
        var rules = SampleIssuer.rules
        rules.userClaims = ["sub", "customer", "n", "missing", ""]
        let session = try await SampleIssuer.verifier([key], rules: rules).verify(token, now: SampleIssuer.now)
        #expect(session.users.map(\.user) == ["u-42", "c-7"])
        #expect(session.user(by: "customer") == "c-7")
        for claim in ["n", "missing", ""] {
            #expect(session.user(by: claim) == nil)
            rules.userClaims = [claim]
            let verifier = try SampleIssuer.verifier([key], rules: rules)
            await expectRefusal(.noUser) { try await verifier.verify(token, now: SampleIssuer.now) }
        }
    }

    @Test func `a session of any audience is accepted where no audience is required`() async throws {
        let rules = SessionRules(issuer: "https://id.example", audience: nil)
        let verifier = try SampleIssuer.verifier([key], rules: rules)
        for audience in [nil, "7", #""other""#] {
            _ = try await verifier.verify(try SampleIssuer.session(key, ["aud": audience]), now: SampleIssuer.now)
        }
    }

    @Test func `clocks may differ by five minutes at most, whatever the rules allow`() async throws {
        var rules = SampleIssuer.rules
        for (skew, taken) in [(Duration.seconds(86_400), 299), (.seconds(-5), 0), (.seconds(300), 299)] {
            rules.skew = skew
            let verifier = try SampleIssuer.verifier([key], rules: rules)
            let good = try SampleIssuer.session(key, ["exp": "\(1_700_000_000 - taken + (taken == 0 ? 1 : 0))"])
            _ = try await verifier.verify(good, now: SampleIssuer.now)
            let bad = try SampleIssuer.session(key, ["exp": "\(1_700_000_000 - taken - (taken == 0 ? 0 : 1))"])
            await expectRefusal(.expired) { try await verifier.verify(bad, now: SampleIssuer.now) }
        }
    }
}
