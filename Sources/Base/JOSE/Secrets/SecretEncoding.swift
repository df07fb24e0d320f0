/// The encoding in which a shared secret's text holds its bytes.
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

    /// Returns the secret that `text` encodes. Characters that editors add to files are not part of it: a byte order
    /// mark before the text, white space and line ends around it.
    ///
    /// - Throws: `JOSEError` with `.invalidEncoding` when the text is not of this encoding, `.invalidKey` when it is
    ///   empty.
    public func decode(_ text: SecretBytes) throws(JOSEError) -> SecretBytes {
        guard !text.isUTF16 else { throw JOSEError(.invalidEncoding, "the secret \(TextMark.utf16)") }
        let trimmed = text.withoutByteOrderMark().withoutSurroundingWhiteSpace()
        guard trimmed.count > 0 else { throw JOSEError(.invalidKey, "the secret is empty") }
        switch self {
        case .utf8:
            guard trimmed.isUTF8 else {
                throw JOSEError(
                    .invalidEncoding, "the secret is not UTF-8 text; state its encoding as hex, base64 or base64url")
            }
            return trimmed
        case .hex: return try Self.decodeHex(trimmed)
        case .base64: return try Base64.standard.decode(trimmed)
        case .base64url: return try Base64.url.decode(trimmed)
        }
    }

    /// Returns the text that encodes `secret`; with `utf8`, a secret that is text stays as it is.
    public func encode(_ secret: SecretBytes) -> SecretBytes {
        switch self {
        case .utf8: unsafe secret.withBytes { unsafe SecretBytes(copying: $0) }
        case .hex: Self.encodeHex(secret)
        case .base64: Base64.standard.encode(secret)
        case .base64url: Base64.url.encode(secret)
        }
    }

    private static func encodeHex(_ secret: SecretBytes) -> SecretBytes {
        unsafe secret.withBytes { bytes in
            unsafe SecretBytes(capacity: bytes.count * 2) { text in
                for index in 0..<bytes.count {
                    unsafe text[index * 2] = digit(bytes[index] >> 4)
                    unsafe text[index * 2 + 1] = digit(bytes[index] & 15)
                }
                return bytes.count * 2
            }
        }
    }

    private static func decodeHex(_ text: SecretBytes) throws(JOSEError) -> SecretBytes {
        guard text.count % 2 == 0 else {
            throw JOSEError(.invalidEncoding, "the hex secret has an odd number of digits")
        }
        return try unsafe text.withBytes { digits throws(JOSEError) in
            try unsafe SecretBytes(capacity: digits.count / 2) { bytes throws(JOSEError) in
                for index in 0..<digits.count / 2 {
                    guard let high = unsafe nibble(digits[index * 2]), let low = unsafe nibble(digits[index * 2 + 1])
                    else {
                        throw JOSEError(.invalidEncoding, "the secret holds a character that is not a hex digit")
                    }
                    unsafe bytes[index] = high << 4 | low
                }
                return digits.count / 2
            }
        }
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
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

extension SecretBytes {
    /// Whether the bytes are UTF-8 text. Looked at where they lie: a `String` would be a copy that nobody overwrites.
    fileprivate var isUTF8: Bool {
        unsafe withBytes { bytes in
            var decoder = UTF8()
            var rest = unsafe bytes.makeIterator()
            while true {
                switch unsafe decoder.decode(&rest) {
                case .scalarValue: continue
                case .emptyInput: return true
                case .error: return false
                }
            }
        }
    }
}

extension Base64 {
    /// Returns the text that encodes `secret`.
    func encode(_ secret: SecretBytes) -> SecretBytes {
        let count = encodedCount(of: secret.count)
        return unsafe secret.withBytes { bytes in
            unsafe SecretBytes(capacity: count) { text in
                unsafe write(bytes.bindMemory(to: UInt8.self), to: text.bindMemory(to: UInt8.self))
                return count
            }
        }
    }

    /// Returns the secret that `text` encodes.
    ///
    /// - Throws: as `decode(_:)`.
    func decode(_ text: SecretBytes) throws(JOSEError) -> SecretBytes {
        try unsafe text.withBytes { text throws(JOSEError) in try unsafe decodeSecret(text) }
    }

    /// Returns the secret that `text` encodes, written straight into memory that is overwritten.
    ///
    /// - Throws: as `decode(_:)`.
    func decodeSecret(_ text: some BidirectionalCollection<UInt8>) throws(JOSEError) -> SecretBytes {
        try unsafe SecretBytes(capacity: text.count / 4 * 3 + 3) { bytes throws(JOSEError) in
            var count = 0
            do throws(InvalidEncoding) {
                try decode(text) { byte in
                    unsafe bytes[count] = byte
                    count += 1
                }
            } catch { throw JOSEError(.invalidEncoding, error.description) }
            return count
        }
    }
}
