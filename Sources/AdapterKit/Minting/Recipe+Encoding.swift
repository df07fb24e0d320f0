/// What fills the places of a recipe.
public struct TokenContents: Sendable {
    /// Whom the token is for.
    public var subject: Subject
    /// When it is made, in seconds since 1970.
    public var issuedAt: Int64
    /// When its life ends, in seconds since 1970.
    public var expiresAt: Int64
    /// What a look-up added.
    public var enrichment: Enrichment

    /// Contents for `subject` from `issuedAt` to `expiresAt`.
    public init(subject: Subject, issuedAt: Int64, expiresAt: Int64, enrichment: Enrichment = Enrichment()) {
        self.subject = subject
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.enrichment = enrichment
    }
}

extension Recipe {
    /// The protected header in base64url. It depends on the key alone: encode it once per key.
    ///
    /// - Throws: `Rejection` with `.keyUnavailable` when the header names the key and the key has no id.
    public func encodedHeader(keyID: String?) throws(Rejection) -> [UInt8] {
        var json = JSONWriter(capacity: 96)
        json.beginObject()
        json.member("alg", algorithm.rawValue)
        for member in header {
            switch member {
            case .constant(let name, let value): json.member(name, value)
            case .keyID:
                guard let keyID else { throw Rejection(.keyUnavailable, "the vendor's header needs a key id") }
                json.member("kid", keyID)
            }
        }
        json.endObject()
        var encoded: [UInt8] = []
        Base64.url.encode(json.bytes, appendingTo: &encoded)
        return encoded
    }

    /// What is to be signed for one token.
    ///
    /// - Parameters:
    ///   - encodedHeader: the protected header, from `encodedHeader(keyID:)`.
    ///   - random: where ids come from.
    /// - Throws: `Rejection` with `.mintFailed` when the subject lacks what a claim needs.
    public func signingInput(
        encodedHeader: [UInt8], for contents: TokenContents, random: inout some RandomNumberGenerator
    ) throws(Rejection) -> SigningInput {
        var failure: Rejection?
        let input = SigningInput(encodedHeader: encodedHeader) {
            failure = template.write(contents, to: &$0, random: &random)
        }
        if let failure { throw failure }
        return input
    }
}

extension Recipe {
    /// The claims of one token, as JSON.
    ///
    /// - Throws: as `signingInput`.
    public func claims(
        of contents: TokenContents, random: inout some RandomNumberGenerator
    ) throws(Rejection) -> [UInt8] {
        var failure: Rejection?
        let claims = ByteWriter.bytes { failure = template.write(contents, to: &$0, random: &random) }
        if let failure { throw failure }
        return claims
    }
}

/// A version 4 UUID (RFC 9562, section 5.4), lowercase.
public enum RandomUUID {
    private static let digits = Array("0123456789abcdef".utf8)

    /// A new UUID from `random`.
    public static func make(using random: inout some RandomNumberGenerator) -> String {
        let (high, low) = (random.next(), random.next())
        return String(decoding: ByteWriter.bytes { $0.append(uuid: high, low) }, as: UTF8.self)
    }
}
