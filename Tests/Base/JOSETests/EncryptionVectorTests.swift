import Testing

@testable import Formats
@_spi(Decryption) @testable import JOSE

@Suite("Published vectors of encryption")
struct EncryptionVectorTests {
    @Test func `the folder of vectors has one file for each published example of encryption`() throws {
        let vectors = try EncryptionVector.all()
        #expect(vectors.count == 12)
        #expect(Set(vectors.map(\.origin)).count == 12)
        #expect(Set(try EncryptionVector.offered().map(\.algorithm)).count == KeyManagementAlgorithm.allCases.count)
        #expect(try EncryptionVector.foreign().count == 8)
    }

    @Test(arguments: try EncryptionVector.offered())
    func `the published token is opened with the published key`(_ vector: EncryptionVector) throws {
        let token = try CompactJWE(text: try #require(vector.token))
        #expect(token.algorithm.rawValue == vector.algorithm)
        #expect(try token.open(with: vector.decryptionKey) == Array(try #require(vector.plaintext).utf8))
        let (plaintext, key) = try token.open(withAnyOf: [SampleRecipient.p384.key, vector.decryptionKey])
        #expect(String(decoding: plaintext, as: UTF8.self) == vector.plaintext)
        #expect(key.keyID == vector.key?["kid"])
    }

    @Test(arguments: try EncryptionVector.foreign())
    func `the published token of an algorithm that is not offered is refused`(_ vector: EncryptionVector) throws {
        let token = try #require(vector.token)
        expectRefusal(.unsupportedAlgorithm) { try CompactJWE(text: token) }
    }

    @Test func `both sides agree on the secret and the key of RFC 7518`() throws {
        let vector = try EncryptionVector.published("RFC 7518, appendix C")
        let recipient = try evpKey(vector.key), sender = try evpKey(vector.ephemeralKey)
        let info = ConcatKDF.info(
            algorithm: vector.algorithm, partyU: try vector.bytes(\.partyU), partyV: try vector.bytes(\.partyV),
            bytes: 16)
        for (own, peer) in [(recipient, sender), (sender, recipient)] {
            for isPeerChecked in [false, true] {
                let agreement = KeyAgreement(
                    own: own, peer: peer, isPeerChecked: isPeerChecked, curve: .p256, info: info)
                var secret = [UInt8](repeating: 0, count: 32)
                #expect(secret.withUnsafeMutableBufferPointer { agreement.agree($0) })
                #expect(try secret == vector.bytes(\.sharedSecret))
            }
        }
        let secret = try vector.bytes(\.sharedSecret)
        var key = [UInt8](repeating: 0, count: 16)
        let isDerived = secret.withUnsafeBufferPointer { secret in
            key.withUnsafeMutableBufferPointer { ConcatKDF.derive(secret, info: info, to: $0) }
        }
        #expect(isDerived)
        #expect(try key == vector.bytes(\.derivedKey))
    }

    @Test func `the bytes mixed into the key of RFC 7518 are the published ones`() {
        // Appendix C: the algorithm's name, the sender, the recipient, each after its length, and 128 bits.
        let published: [UInt8] = [
            0, 0, 0, 7, 65, 49, 50, 56, 71, 67, 77, 0, 0, 0, 5, 65, 108, 105, 99, 101, 0, 0, 0, 3, 66, 111, 98, 0, 0, 0,
            128,
        ]
        let parties = (Array("Alice".utf8), Array("Bob".utf8))
        let info = ConcatKDF.info(algorithm: "A128GCM", partyU: parties.0, partyV: parties.1, bytes: 16)
        #expect(info == published)
    }

    @Test func `a derived key is no wider than one round of the digest`() {
        var key = [UInt8](repeating: 0, count: ConcatKDF.limit + 1)
        let isDerived = [1, 2, 3].withUnsafeBufferPointer { secret in
            key.withUnsafeMutableBufferPointer { ConcatKDF.derive(secret, info: [], to: $0) }
        }
        #expect(!isDerived)
    }

    @Test func `the key of RFC 3394 is wrapped and unwrapped`() throws {
        let vector = try EncryptionVector.published("RFC 3394, section 4.6")
        let wrappingKey = try vector.bytes(\.wrappingKey), contentKey = try vector.bytes(\.contentKey)
        let encryptedKey = try vector.bytes(\.encryptedKey)
        let wrapped = wrappingKey.withUnsafeBufferPointer { wrappingKey in
            contentKey.withUnsafeBufferPointer { KeyWrap.wrap($0, under: wrappingKey) }
        }
        #expect(wrapped == encryptedKey)
        #expect(unwrap(encryptedKey, under: wrappingKey) == contentKey)
        for index in encryptedKey.indices {
            var spoilt = encryptedKey
            spoilt[index] ^= 1
            #expect(unwrap(spoilt, under: wrappingKey) == nil)
        }
        for other in [[], Array(encryptedKey.dropLast()), Array(encryptedKey.dropLast(8)), encryptedKey + encryptedKey]
        {
            #expect(unwrap(other, under: wrappingKey) == nil)
        }
        #expect(unwrap(encryptedKey, under: Array(wrappingKey.dropLast(16))) == nil)
    }

    @Test(arguments: ["RFC 7516, appendix A.1", "RFC 7520, section 5.2"])
    func `the published content is encrypted and decrypted`(origin: String) throws {
        let vector = try EncryptionVector.published(origin)
        let parts = try #require(vector.token).parts
        let header = Array(parts[0].utf8), contentKey = try vector.bytes(\.contentKey)
        let published = A256GCM.Sealed(
            iv: try Base64.url.decode(text: parts[2]), ciphertext: try Base64.url.decode(text: parts[3]),
            tag: try Base64.url.decode(text: parts[4]))
        let plaintext = Array(try #require(vector.plaintext).utf8)
        contentKey.withUnsafeBufferPointer { key in
            #expect(A256GCM.decrypt(published, key: key, additionalData: header) == plaintext)
            #expect(A256GCM.decrypt(published, key: key, additionalData: header + [0]) == nil)
            let sealed = A256GCM.encrypt(plaintext, key: key, additionalData: header, iv: published.iv)
            #expect(sealed?.ciphertext == published.ciphertext)
            #expect(sealed?.tag == published.tag)
        }
    }

    private func unwrap(_ wrapped: [UInt8], under wrappingKey: [UInt8]) -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: 32)
        let isUnwrapped = wrappingKey.withUnsafeBufferPointer { wrappingKey in
            key.withUnsafeMutableBufferPointer { KeyWrap.unwrap(wrapped, under: wrappingKey, to: $0) }
        }
        return isUnwrapped ? key : nil
    }
}
