extension Recipe {
    /// The protected header in base64url. It depends on the key alone.
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
}
