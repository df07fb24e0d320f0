/// A version 4 UUID (RFC 9562, section 5.4), lowercase.
package enum RandomUUID {
    /// Returns a new UUID from `random`.
    package static func make(using random: inout some RandomNumberGenerator) -> String {
        let (high, low) = (random.next(), random.next())
        return String(decoding: ByteWriter.bytes { $0.append(uuid: high, low) }, as: UTF8.self)
    }
}
