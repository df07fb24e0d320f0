/// The form of text in a JSON string (RFC 8259, section 7).
enum JSONText {
    /// Returns whether no byte needs escaping.
    static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var at = 0
        while text.count - at >= 8 {
            let word = unsafe UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: at, as: UInt64.self)
            if marks(in: word) != 0 { return false }
            at += 8
        }
        while at < text.count {
            let byte = unsafe text[at]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
            at += 1
        }
        return true
    }

    /// Returns the highest bit of each byte in `word` that is below 0x20, a quotation mark or a backslash. Bytes above the lowest of
    /// these may have theirs too.
    static func marks(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // A byte that is zero, or less than the subtracted value, borrows into its highest bit.
        let controls = (word &- ones &* 0x20) & ~word
        let quotes = word ^ ones &* UInt64(UInt8(ascii: "\"")), slashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        return (controls | ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes)) & (ones &* 0x80)
    }

    /// Returns the text with the necessary escapes.
    static func escaped(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        for byte in unsafe Array(text) {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
            case 0x0A: output += "\\n".utf8
            case 0x0D: output += "\\r".utf8
            case 0x09: output += "\\t".utf8
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                output += "\\u00".utf8
                output += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: output.append(byte)
            }
        }
        return output
    }
}
