/// A compact JWE (RFC 7516, section 7.1) taken apart, and nothing more: it has not been decrypted, and nothing in it is known to
/// be its sender's.
public struct CompactJWE: Sendable {
    /// The limits over which a token is refused, before it costs anything.
    public typealias Limits = CompactJWS.Limits

    /// The way to the message's key, as the header names it.
    enum Way: Sendable {
        case agreement(SenderKey)
        case transport
    }

    private let protected: ProtectedHeader
    let way: Way
    let encryptedKey: [UInt8]
    let content: A256GCM.Sealed
    /// The data that is authenticated with the content: the encoded header.
    let additionalData: [UInt8]

    /// The protected header: an object. Anybody could have written it, until the token is opened.
    public var header: JSONValue { protected.root }
    /// The header's `kid`, if any.
    public var keyID: String? { protected.keyID }
    /// The header's `alg`. Never a reason to use that algorithm.
    public var algorithm: KeyManagementAlgorithm {
        switch way {
        case .agreement: .ecdhESA256KW
        case .transport: .rsaOAEP256
        }
    }

    /// Parses `token`.
    ///
    /// - Throws: `JOSEError`: `.tokenTooLarge`, `.notFiveParts`, `.malformedHeader`, `.malformedCiphertext`,
    ///   `.unsupportedAlgorithm` for any `alg` and `enc` but those offered here, `.unsupportedCritical`,
    ///   `.unsupportedCompression`.
    public init(parsing token: [UInt8], limits: Limits = Limits()) throws(JOSEError) {
        guard token.count <= limits.bytes else {
            throw JOSEError(.tokenTooLarge, "the token is longer than \(limits.bytes) bytes")
        }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count == 5 else {
            throw JOSEError(.notFiveParts, "a compact encrypted token has five parts with four dots between them")
        }
        protected = try ProtectedHeader(parsing: parts[0], limits)
        way = try Self.way(protected)
        encryptedKey = try Base64.url.decoded(parts[1], .malformedCiphertext, "encrypted key")
        content = A256GCM.Sealed(
            iv: try Base64.url.decoded(parts[2], .malformedCiphertext, "initialization vector"),
            ciphertext: try Base64.url.decoded(parts[3], .malformedCiphertext, "ciphertext"),
            tag: try Base64.url.decoded(parts[4], .malformedCiphertext, "authentication tag"))
        guard content.iv.count == A256GCM.ivBytes else {
            throw JOSEError(.malformedCiphertext, "the initialization vector of A256GCM is \(A256GCM.ivBytes) bytes")
        }
        guard content.tag.count == A256GCM.tagBytes else {
            throw JOSEError(.malformedCiphertext, "the authentication tag of A256GCM is \(A256GCM.tagBytes) bytes")
        }
        additionalData = Array(parts[0])
    }

    /// Returns whether the token may belong to a key of the id `known`: it has that `kid`, or one of the two has none.
    func mayMean(_ known: String?) -> Bool { protected.mayMean(known) }

    private static func way(_ header: ProtectedHeader) throws(JOSEError) -> Way {
        guard let algorithm = KeyManagementAlgorithm(rawValue: header.algorithmName) else {
            throw JOSEError(
                .unsupportedAlgorithm, "the header's \"alg\" is neither ECDH-ES+A256KW nor RSA-OAEP-256")
        }
        guard let encryption = header.root["enc"]?.string else {
            throw JOSEError(.malformedHeader, "the header has no string \"enc\"")
        }
        guard encryption == A256GCM.name else {
            throw JOSEError(.unsupportedAlgorithm, "the header's \"enc\" is not \(A256GCM.name)")
        }
        guard header.root["zip"] == nil else {
            throw JOSEError(.unsupportedCompression, "the header's \"zip\" asks for compression, which is not offered")
        }
        if let name = algorithm.foreignMembers.first(where: { header.root[$0] != nil }) {
            throw JOSEError(.malformedHeader, "the header's \"\(name)\" is no member of \(algorithm.rawValue)")
        }
        return switch algorithm {
        case .ecdhESA256KW: .agreement(try SenderKey(header.root))
        case .rsaOAEP256: .transport
        }
    }
}
