/// How a shared secret's text stands for its bytes.
///
/// Vendors differ (Infobip: hex; Dotdigital and Bloomreach: the text itself) and the same text is often valid in
/// several encodings, so the encoding is always stated and never guessed.
public enum SecretEncoding: String, Sendable, CaseIterable, Codable {
    /// The text's own UTF-8 bytes.
    case utf8
    /// Two hexadecimal digits a byte, either case.
    case hex
    /// RFC 4648 section 4, padded.
    case base64
    /// RFC 4648 section 5, without padding.
    case base64url

    /// The secret that `text` stands for. White space and line ends around the text, which editors add to files,
    /// are not part of it.
    ///
    /// - Throws: `JOSEError` with `.invalidEncoding` when the text is not of this encoding, `.invalidKey` when it is
    ///   empty.
    public func decode(_ text: SecretBytes) throws(JOSEError) -> SecretBytes {
        let trimmed = text.withoutSurroundingWhiteSpace()
        guard trimmed.count > 0 else { throw JOSEError(.invalidKey, "the secret is empty") }
        switch self {
        case .utf8:
            guard unsafe trimmed.withBytes({ bytes in unsafe String(validating: bytes, as: UTF8.self) != nil }) else {
                throw JOSEError(
                    .invalidEncoding, "the secret is not UTF-8 text; state its encoding as hex, base64 or base64url")
            }
            return trimmed
        case .hex: return try Self.decodeHex(trimmed)
        case .base64: return try Self.decodeBase64(trimmed, .standard)
        case .base64url: return try Self.decodeBase64(trimmed, .url)
        }
    }

    /// The text that stands for `secret`; with `utf8`, a secret that is text already is its own.
    public func encode(_ secret: SecretBytes) -> SecretBytes {
        var text: [UInt8] = []
        defer { SecretBytes.cleanse(&text) }
        unsafe secret.withBytes { bytes in
            switch self {
            case .utf8: text = unsafe Array(bytes)
            case .hex:
                let digits = Array("0123456789abcdef".utf8)
                text.reserveCapacity(bytes.count * 2)
                unsafe bytes.forEach { byte in
                    text.append(digits[Int(byte >> 4)])
                    text.append(digits[Int(byte & 15)])
                }
            case .base64, .base64url:
                var copy = unsafe Array(bytes)
                defer { SecretBytes.cleanse(&copy) }
                (self == .base64 ? Base64.standard : .url).encode(copy, appendingTo: &text)
            }
        }
        return SecretBytes(copying: text)
    }

    private static func decodeBase64(_ text: SecretBytes, _ alphabet: Base64) throws(JOSEError) -> SecretBytes {
        let decoded = SecretBytes.Builder(capacity: text.count)
        var failure: JOSEError?
        unsafe text.withBytes { bytes in
            // The copy is the alphabet's input; it is overwritten before it is given back.
            var copy = unsafe Array(bytes)
            defer { SecretBytes.cleanse(&copy) }
            do throws(JOSEError) { try alphabet.decode(copy[...]) { decoded.append($0) } } catch { failure = error }
        }
        if let failure { throw failure }
        return decoded.finish()
    }

    private static func decodeHex(_ text: SecretBytes) throws(JOSEError) -> SecretBytes {
        guard text.count % 2 == 0 else {
            throw JOSEError(.invalidEncoding, "the hex secret has an odd number of digits")
        }
        let decoded = SecretBytes.Builder(capacity: text.count / 2)
        let valid = unsafe text.withBytes { bytes -> Bool in
            for index in stride(from: 0, to: bytes.count, by: 2) {
                guard let high = unsafe nibble(bytes[index]), let low = unsafe nibble(bytes[index + 1]) else {
                    return false
                }
                decoded.append(high << 4 | low)
            }
            return true
        }
        guard valid else { throw JOSEError(.invalidEncoding, "the secret holds a character that is not a hex digit") }
        return decoded.finish()
    }

    private static func nibble(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
