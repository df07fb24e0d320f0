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

    /// Writes the claims of one token to `json`, which is emptied first.
    ///
    /// - Throws: `Rejection` with `.mintFailed` when the subject lacks what a claim needs.
    public func writeClaims(
        of contents: TokenContents, to json: inout JSONWriter, random: inout some RandomNumberGenerator
    ) throws(Rejection) {
        json.removeAll()
        try write(claims, of: contents, to: &json, random: &random)
    }

    private func write(
        _ claims: [Claim], of contents: TokenContents, to json: inout JSONWriter,
        random: inout some RandomNumberGenerator
    ) throws(Rejection) {
        json.beginObject()
        for claim in claims {
            if case .enrichment(let name) = claim.value {
                guard let value = contents.enrichment[name] else { continue }
                json.name(encoded: claim.encodedName)
                json.raw(value)
                continue
            }
            json.name(encoded: claim.encodedName)
            try write(claim, of: contents, to: &json, random: &random)
        }
        json.endObject()
    }

    private func write(
        _ claim: Claim, of contents: TokenContents, to json: inout JSONWriter, random: inout some RandomNumberGenerator
    ) throws(Rejection) {
        switch claim.value {
        case .constant(let value): json.string(value)
        case .user:
            guard let user = contents.subject.user else { throw lacking("a single user id", for: claim) }
            json.string(user)
        case .identifiers:
            guard case .identifiers = contents.subject.identity else { throw lacking("named ids", for: claim) }
            contents.subject.write(to: &json)
        case .challenge:
            guard let challenge = contents.subject.challenge else { throw lacking("a challenge", for: claim) }
            json.string(challenge)
        case .issuedAt: json.integer(contents.issuedAt)
        case .expiresAt: json.integer(contents.expiresAt)
        case .uuid: json.unescapedString(RandomUUID.bytes(using: &random))
        case .object(let members): try write(members, of: contents, to: &json, random: &random)
        case .enrichment: json.null()
        }
    }

    private func lacking(_ what: String, for claim: Claim) -> Rejection {
        Rejection(.mintFailed, "the claim \"\(claim.name)\" needs \(what), which the subject does not have")
    }
}

/// A version 4 UUID (RFC 9562, section 5.4), lowercase.
public enum RandomUUID {
    private static let digits = Array("0123456789abcdef".utf8)

    /// A new UUID from `random`.
    public static func make(using random: inout some RandomNumberGenerator) -> String {
        String(decoding: bytes(using: &random), as: UTF8.self)
    }

    /// A new UUID from `random`, as the bytes of its text.
    static func bytes(using random: inout some RandomNumberGenerator) -> [UInt8] {
        // The version stands in the seventh byte, the variant in the ninth.
        let high = random.next() & ~0xF000 | 0x4000
        let low = random.next() & ~(3 << 62) | 2 << 62
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for place in 0..<32 {
            if place == 8 || place == 12 || place == 16 || place == 20 { text.append(UInt8(ascii: "-")) }
            let word = place < 16 ? high : low
            text.append(digits[Int(word >> UInt64(60 - 4 * (place & 15)) & 15)])
        }
        return text
    }
}
