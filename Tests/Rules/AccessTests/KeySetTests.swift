import Access
import JOSE
import Testing

/// A member of a JWK Set, and how many keys it gives.
struct MemberCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let algorithm: Algorithm
    let changes: Changes
    let keys: Int

    private init(_ what: String, _ keys: Int, _ changes: Changes = [:], _ algorithm: Algorithm = .es256) {
        testDescription = "\(what): \(keys)"
        self.algorithm = algorithm
        self.changes = changes
        self.keys = keys
    }

    static let all = [
        MemberCase("as it is", 1), MemberCase("no use", 1, ["use": nil]),
        MemberCase("for encryption", 0, ["use": #""enc""#]), MemberCase("a use that is none", 1, ["use": "null"]),
        MemberCase("operations with verify", 1, ["use": nil, "key_ops": #"["verify"]"#]),
        MemberCase("other operations", 0, ["key_ops": #"["encrypt"]"#]),
        MemberCase("no operations", 1, ["key_ops": "[]"]),
        MemberCase("an unknown type", 0, ["kty": #""AKP""#]), MemberCase("no type", 0, ["kty": nil]),
        MemberCase("an unknown curve", 0, ["crv": #""secp256k1""#]),
        MemberCase("an unknown algorithm", 0, ["alg": #""ML-DSA-44""#]),
        MemberCase("an algorithm not allowed", 0, [:], .es512),
        MemberCase("another's algorithm", 0, ["alg": #""RS256""#]),
        MemberCase("RSA without an algorithm", 2, ["alg": nil], .rs256),
        MemberCase("EC without an algorithm", 1, ["alg": nil]), MemberCase("Ed25519", 1, ["alg": nil], .eddsa),
        MemberCase("P-384 without an algorithm", 0, ["alg": nil], .es384),
        MemberCase("a private key", 0, ["d": #""AQ""#]),
        MemberCase("a shared secret", 0, ["kty": #""oct""#, "k": #""AA""#]),
        MemberCase("off the curve", 0, ["y": "\"" + Base64.url.encode([UInt8](repeating: 5, count: 32)) + "\""]),
        MemberCase("weak", 0, ["n": "\"" + Base64.url.encode([UInt8](repeating: 255, count: 128)) + "\""], .rs256),
        MemberCase("no id", 1, ["kid": nil]), MemberCase("an id that is a number", 0, ["kid": "7"]),
        MemberCase("a long id", 0, ["kid": "\"" + String(repeating: "k", count: 1025) + "\""]),
        MemberCase("an id of 100 kB", 0, ["kid": "\"" + String(repeating: "k", count: 100_000) + "\""]),
        MemberCase("a certificate beside it", 1, ["x5c": #"["AA"]"#, "x5t": "7"]),
        MemberCase(
            "every member without a value, as Microsoft's libraries write them", 2,
            [
                "alg": "null", "use": "null", "kid": "null", "key_ops": "[]", "x5c": "[]", "x5t": "null", "x5u": "null",
                "d": "null", "dp": "null", "dq": "null", "k": "null", "oth": "[]", "p": "null", "q": "null",
                "qi": "null",
            ], .rs256),
        MemberCase("EdDSA under its full name", 1, ["alg": #""Ed25519""#], .eddsa),
        MemberCase("a coordinate that is null", 0, ["x": "null"]),
        MemberCase("deep extensions", 1, ["z": String(repeating: "[", count: 20) + String(repeating: "]", count: 20)]),
    ]
}

@Suite("Key sets")
struct KeySetTests {
    private func member(_ key: SigningKey, _ changes: Changes = [:]) throws -> String {
        let json = try #require(try JWK.publicJSON(of: key.verificationKey))
        var members: [String: String] = [:]
        for (name, value) in try JSONDocument(parsing: json).root.members {
            members[name] = String(decoding: value.json, as: UTF8.self)
        }
        return "{" + members.changed(by: changes).map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    private func parse(_ text: String) throws -> KeySet {
        try KeySet(parsing: Array(text.utf8), algorithms: SampleIssuer.rules.algorithms)
    }

    @Test(arguments: MemberCase.all)
    func `a key that cannot verify a session is skipped, and the other keys are kept`(_ example: MemberCase) throws {
        let good = try member(SampleIssuer.key(.eddsa, "good"))
        let other = try member(SampleIssuer.key(example.algorithm), example.changes)
        let set = try parse(#"{"keys":[\#(other),\#(good)],"x":7}"#)
        #expect(set.count == 1 + example.keys)
        #expect(set.skipped == (example.keys == 0 ? 1 : 0))
    }

    @Test func `a key that names a member twice costs no other key`() throws {
        let twice = try member(SampleIssuer.key(.es256)).replacing("{", with: #"{"kid":"other","#)
        let set = try parse(#"{"keys":[\#(twice),\#(try member(SampleIssuer.key(.es256)))]}"#)
        #expect(set.count == 1)
        #expect(set.skipped == 1)
    }

    @Test func `a byte order mark before a set is not part of it`() throws {
        let set = #"{"keys":[\#(try member(SampleIssuer.key(.es256)))]}"#
        #expect(try parse("\u{FEFF}" + set).count == 1)
        #expect(throws: KeySetError.notAKeySet) { try parse("\u{FEFF}\u{FEFF}" + set) }
    }

    @Test func `members that are no objects are passed over`() throws {
        let set = try parse(#"{"keys":[7,null,"x",[],{},\#(try member(SampleIssuer.key(.es256)))]}"#)
        #expect(set.count == 1)
        #expect(set.skipped == 5)
    }

    @Test(arguments: [
        "", "null", "[]", "{}", #"{"keys":{}}"#, #"{"keys":null}"#, #"{"keys":[],"keys":[]}"#, "<html>",
        #"{"keys":[]}x"#,
        #"{"keys":\#(String(repeating: "[", count: 1000))"#,
    ])
    func `a document that is no JWK Set is refused`(text: String) {
        #expect(throws: KeySetError.notAKeySet) { try parse(text) }
    }

    @Test(arguments: [#"{"keys":[]}"#, #"{"keys":[{}]}"#, #"{"keys":[{"kty":"oct","k":"AAAA","alg":"HS256"}]}"#])
    func `a set without a usable key is refused`(text: String) {
        #expect(throws: KeySetError.noUsableKey) { try parse(text) }
    }

    @Test func `a set is bounded`() throws {
        let one = try member(SampleIssuer.key(.es256))
        let hundred = Array(repeating: one, count: 100)
        #expect(try parse("{\"keys\":[\(hundred.joined(separator: ","))]}").count == 100)
        #expect(throws: KeySetError.tooManyKeys) {
            try parse("{\"keys\":[\((hundred + [one]).joined(separator: ","))]}")
        }
        let padding = String(repeating: " ", count: KeySet.mostBytes)
        #expect(throws: KeySetError.tooLarge) { try parse("{\"keys\":[\(one)]}" + padding) }
    }

    @Test func `two ids that look alike are different ids`() async throws {
        let composed = try SampleIssuer.key(.es256, "\u{E9}")
        let decomposed = try SampleIssuer.key(.es256, "e\u{301}")
        let verifier = try SampleIssuer.verifier([composed, decomposed])
        for key in [composed, decomposed] {
            _ = try await verifier.verify(try SampleIssuer.session(key), now: SampleIssuer.now)
        }
    }

    @Test(
        arguments: [
            (nil, nil), ("", nil), ("public", nil), ("max-age=60", 60), ("public, MAX-AGE=600, must-revalidate", 600),
            ("max-age=\"60\"", 60), ("s-maxage=5", nil), ("max-age", nil), ("max-age=", nil), ("max-age=-1", nil),
            ("max-age=99999999999999999999", 1 << 31), ("no-cache", 0), ("max-age=600, no-store", 0),
            ("max-age=x", nil),
        ] as [(String?, Int?)])
    func `a document is as fresh as its headers state`(cacheControl: String?, seconds: Int?) {
        let document = KeySetDocument(bytes: [], cacheControl: cacheControl)
        #expect(document.maxAge == seconds.map { .seconds($0) })
    }
}
