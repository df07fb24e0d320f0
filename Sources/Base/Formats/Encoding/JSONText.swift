/// The form of text in a JSON string (RFC 8259, section 7).
enum JSONText {
    /// Returns whether no byte needs escaping.
    static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe text.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
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
