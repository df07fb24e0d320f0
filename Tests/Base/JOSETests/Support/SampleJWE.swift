import Testing

@testable import Formats
@_spi(Decryption) @testable import JOSE

/// A kind of recipient, with one key that is made once.
struct SampleRecipient: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let algorithm: KeyManagementAlgorithm
    private let made: Result<JWEDecryptionKey, JOSEError>

    var key: JWEDecryptionKey { get throws { try made.get() } }

    private init(_ curve: Algorithm.Curve) {
        testDescription = curve.rawValue
        algorithm = .ecdhESA256KW
        made = Result { () throws(JOSEError) in try .generate(.ecdhESA256KW, curve: curve, keyID: curve.rawValue) }
    }

    private init(rsaBits: Int) {
        testDescription = "RSA of \(rsaBits) bits"
        algorithm = .rsaOAEP256
        made = Result { () throws(JOSEError) in
            try .generate(.rsaOAEP256, rsaBits: rsaBits, keyID: "rsa-\(rsaBits)")
        }
    }

    static let p256 = SampleRecipient(.p256)
    static let p384 = SampleRecipient(.p384)
    static let rsa2048 = SampleRecipient(rsaBits: 2048)
    static let all = [p256, p384, SampleRecipient(.p521), rsa2048, SampleRecipient(rsaBits: 3072)]
    /// One of each algorithm.
    static let some = [p256, rsa2048]

    func stranger() throws -> JWEDecryptionKey {
        let key = try key
        return switch key.key.way {
        case .agreement(let curve): try .generate(algorithm, curve: curve, keyID: key.keyID)
        case .transport: try .generate(algorithm, rsaBits: key.key.key.bits, keyID: key.keyID)
        }
    }
}

/// Tokens with any header at all, whose content opens all the same: what is refused is refused for its header.
enum ForgedJWE {
    static let plaintext = "You can trust us to stick with you"

    /// - Parameters:
    ///   - header: the header's JSON; `EPK` stands for the ephemeral key, `ALG` for the key's algorithm.
    ///   - partyU: the value of `apu`.
    ///   - partyV: the value of `apv`.
    static func make(
        _ header: String, to key: JWEDecryptionKey, partyU: [UInt8] = [], partyV: [UInt8] = []
    ) throws -> String {
        let contentKey = [UInt8](repeating: 7, count: A256GCM.keyBytes)
        let encryptedKey: [UInt8]?
        var epk = JSONWriter()
        switch key.key.way {
        case .transport:
            epk.raw("{}")
            encryptedKey = contentKey.withUnsafeBufferPointer { KeyTransport.encrypt($0, to: key.key.key) }
        case .agreement(let curve):
            let ephemeral = try EVPKey.generate(.ec(curve))
            epk.beginObject()
            for (name, value) in try JWK.publicMembers(of: ephemeral) { epk.member(name, value) }
            epk.endObject()
            let agreement = KeyAgreement(
                own: ephemeral, peer: key.key.key, curve: curve,
                info: KeyAgreement.info(partyU: partyU, partyV: partyV))
            encryptedKey = agreement.withWrappingKey { wrappingKey in
                contentKey.withUnsafeBufferPointer { KeyWrap.wrap($0, under: wrappingKey) }
            }
        }
        // In this order: a coordinate in base64url may have any three letters in it.
        let text = header.replacing("ALG", with: key.algorithm.rawValue)
            .replacing("EPK", with: String(decoding: epk.bytes, as: UTF8.self))
        let encoded: String = Base64.url.encode(text: text)
        let sealed = contentKey.withUnsafeBufferPointer {
            A256GCM.encrypt(Array(plaintext.utf8), key: $0, additionalData: Array(encoded.utf8))
        }
        let content = try #require(sealed)
        let parts: [String] = [try #require(encryptedKey), content.iv, content.ciphertext, content.tag].map {
            Base64.url.encode($0)
        }
        return ([encoded] + parts).joined(separator: ".")
    }
}

extension CompactJWE {
    init(text: String, limits: Limits = Limits()) throws { try self.init(parsing: Array(text.utf8), limits: limits) }
}

extension JWEDecryptionKey {
    /// The plaintext of a token as text.
    func open(text: String) throws -> String {
        String(decoding: try CompactJWE(text: text).open(with: self), as: UTF8.self)
    }
}

extension JWERecipient {
    func seal(text: String, contentType: String? = nil, type: String? = nil) throws -> String {
        String(decoding: try seal(Array(text.utf8), contentType: contentType, type: type), as: UTF8.self)
    }
}
