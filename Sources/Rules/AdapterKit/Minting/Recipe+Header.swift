extension Recipe {
    /// Returns the protected header in base64url. It depends on the key alone, and where it names a day, on that of
    /// `issuedAt`.
    ///
    /// - Throws: `Rejection` with `.keyUnavailable` when the header names the key and the key has no id.
    package func encodedHeader(keyID: String?, issuedAt: Int64 = 0) throws(Rejection) -> [UInt8] {
        var json = JSONWriter(capacity: 96)
        json.beginObject()
        json.member("alg", algorithm.rawValue)
        for member in header {
            switch member {
            case .constant(let name, let value): json.member(name, value)
            case .keyID:
                guard let keyID else { throw Rejection(.keyUnavailable, "the vendor's header needs a key id") }
                json.member("kid", keyID)
            case .text(let name, let parts):
                json.member(name, try Self.text(of: parts, keyID: keyID, issuedAt: issuedAt))
            }
        }
        json.endObject()
        var encoded: [UInt8] = []
        Base64.url.encode(json.bytes, appendingTo: &encoded)
        return encoded
    }

    /// Whether the header differs from day to day.
    var hasDatedHeader: Bool {
        header.contains { if case .text(_, let parts) = $0 { parts.contains(.date) } else { false } }
    }

    private static func text(of parts: [TextPart], keyID: String?, issuedAt: Int64) throws(Rejection) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .constant(let constant): text += constant
            case .keyID:
                guard let keyID else { throw Rejection(.keyUnavailable, "the vendor's header needs a key id") }
                text += keyID
            case .date: text += String(decoding: TextPart.date(of: issuedAt), as: UTF8.self)
            case .user, .userInJSON, .userInURL, .moment, .uuid:
                throw Rejection(.mintFailed, "a header is the same for all users")
            }
        }
        return text
    }
}
