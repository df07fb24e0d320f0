import Testing

@testable import Formats
@_spi(Decryption) @testable import JOSE

@Suite("Encrypted tokens", .timeLimit(.minutes(5)))
struct EncryptionTests {
    @Test(arguments: SampleRecipient.all)
    func `a plaintext sealed to a key is opened with that key`(_ recipient: SampleRecipient) throws {
        let key = try recipient.key
        for count in [0, 1, 15, 16, 17, 600, 8000] {
            let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let token = try key.recipient.seal(plaintext)
            #expect(try CompactJWE(parsing: token).open(with: key) == plaintext, "\(count) bytes")
        }
    }

    @Test(arguments: SampleRecipient.all)
    func `the header names the algorithms, the key and what is inside, and nothing else`(
        _ recipient: SampleRecipient
    ) throws {
        let key = try recipient.key
        let whole = try CompactJWE(text: key.recipient.seal(text: "{}", contentType: "JWT", type: "a\"b"))
        let isAgreement = recipient.algorithm == .ecdhESA256KW
        #expect(
            whole.header.members.map(\.name) == ["alg", "enc", "kid"] + (isAgreement ? ["epk"] : []) + ["typ", "cty"])
        #expect(whole.header["alg"]?.string == recipient.algorithm.rawValue)
        #expect(whole.algorithm == recipient.algorithm)
        #expect(whole.header["enc"]?.string == "A256GCM")
        #expect(whole.keyID == key.keyID && key.keyID == key.recipient.keyID)
        #expect(whole.header["cty"]?.string == "JWT")
        #expect(whole.header["typ"]?.string == "a\"b")
        if isAgreement {
            #expect(whole.header["epk"]?.members.map(\.name) == ["kty", "crv", "x", "y"])
            #expect(whole.header["epk"]?["crv"]?.string == recipient.testDescription)
        }
        let plain = try CompactJWE(text: key.recipient.seal(text: "{}"))
        #expect(plain.header.members.map(\.name) == ["alg", "enc", "kid"] + (isAgreement ? ["epk"] : []))
    }

    @Test(arguments: SampleRecipient.all)
    func `no two seals of one text share a part except the header's members about the key`(
        _ recipient: SampleRecipient
    ) throws {
        let tokens = try (0..<8).map { _ in try recipient.key.recipient.seal(text: ForgedJWE.plaintext).parts }
        for index in 1..<5 { #expect(Set(tokens.map { $0[index] }).count == tokens.count, "part \(index)") }
        let headers = Set(tokens.map { $0[0] })
        #expect(headers.count == (recipient.algorithm == .ecdhESA256KW ? tokens.count : 1))
    }

    /// One point in 256 has an x whose first byte is zero, and as many such a y or such a shared secret.
    @Test func `coordinates and secrets keep their leading zeros`() throws {
        let key = try SampleRecipient.p256.key
        var found = false
        for _ in 0..<5000 where !found {
            let token = try CompactJWE(text: key.recipient.seal(text: "{}"))
            let epk = try #require(token.header["epk"])
            let coordinates = try ["x", "y"].map { try Base64.url.decode(text: epk[$0]?.string ?? "") }
            #expect(coordinates.allSatisfy { $0.count == 32 })
            found = coordinates.contains { $0.first == 0 }
            #expect(try token.open(with: key) == Array("{}".utf8))
        }
        #expect(found)
    }

    @Test func `a recipient is used by any number of threads`() async throws {
        let key = try SampleRecipient.p256.key
        let opened = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<64 {
                group.addTask { try key.open(text: key.recipient.seal(text: "token \(number)")) }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(opened.count == 64)
    }

    @Test func `a token with a kid is tried with the keys of that id and those without, one without a kid with all`()
        throws
    {
        func key(_ keyID: String?) throws -> JWEDecryptionKey { try .generate(.ecdhESA256KW, keyID: keyID) }
        let (first, second, nameless) = (try key("first"), try key("second"), try key(nil))
        let rsa = try SampleRecipient.rsa2048.key
        let toFirst = try CompactJWE(text: first.recipient.seal(text: "first"))
        let toNameless = try CompactJWE(text: nameless.recipient.seal(text: "nameless"))
        #expect(try toFirst.open(withAnyOf: [rsa, second, nameless, first]).key.keyID == "first")
        #expect(toNameless.keyID == nil)
        let opened = try toNameless.open(withAnyOf: [rsa, first, second, nameless])
        #expect(opened.plaintext == Array("nameless".utf8))
        #expect(opened.key.keyID == nil)
        expectRefusal(.noMatchingKey) { try toFirst.open(withAnyOf: []) }
        expectRefusal(.noMatchingKey) { try toFirst.open(withAnyOf: [second, rsa]) }
        expectRefusal(.decryptionFailed) { try toFirst.open(withAnyOf: [second, nameless]) }
        expectRefusal(.decryptionFailed) { try toNameless.open(withAnyOf: [rsa, first, SampleRecipient.p384.key]) }
        expectRefusal(.algorithmMismatch) { try toNameless.open(withAnyOf: [rsa, SampleRecipient.p384.key]) }
        // Two keys of one id, as while a key is replaced.
        #expect(try toFirst.open(withAnyOf: [key("first"), first]).plaintext == Array("first".utf8))
    }

    @Test func `a signed token goes into an encrypted one and comes out as it was`() throws {
        let signer = try SampleKeys.make(.es256)
        let signed = try SampleToken.make(signer)
        let key = try SampleRecipient.p256.key
        let token = try CompactJWE(text: key.recipient.seal(text: signed, contentType: "JWT"))
        try CompactJWS(parsing: token.open(with: key)).verify(with: signer.verificationKey)
    }

    @Test(arguments: [([UInt8](), [UInt8]()), (Array("Alice".utf8), Array("Bob".utf8)), ([0, 255], [])])
    func `the parties that a header names are mixed into the key`(_ partyU: [UInt8], _ partyV: [UInt8]) throws {
        let key = try SampleRecipient.p256.key
        let (u, v): (String, String) = (Base64.url.encode(partyU), Base64.url.encode(partyV))
        let header = #"{"alg":"ALG","enc":"A256GCM","epk":EPK,"apu":"\#(u)","apv":"\#(v)"}"#
        let token = try ForgedJWE.make(header, to: key, partyU: partyU, partyV: partyV)
        #expect(try key.open(text: token) == ForgedJWE.plaintext)
        let other = try ForgedJWE.make(header, to: key, partyU: partyU + [1], partyV: partyV)
        expectRefusal(.decryptionFailed) { try key.open(text: other) }
        let swapped = try ForgedJWE.make(header, to: key, partyU: partyV + [2], partyV: partyU)
        expectRefusal(.decryptionFailed) { try key.open(text: swapped) }
    }
}
