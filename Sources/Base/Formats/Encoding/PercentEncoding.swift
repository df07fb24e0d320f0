/// Percent-encoding that keeps RFC 3986's unreserved characters (section 2.3) and nothing else.
public enum PercentEncoding {
    /// Returns `text` encoded for one part of a path or a query, where a slash is no separator.
    public static func encoded(_ text: String) -> String {
        String(decoding: ByteWriter.bytes { encode(text, to: &$0) }, as: UTF8.self)
    }

    /// Returns `text` encoded for one part of a path between two slashes. Dots alone mean a folder there (RFC 3986,
    /// section 5.2.4) and would be removed on the way.
    public static func pathSegment(_ text: String) -> String {
        switch text {
        case ".": "%2E"
        case "..": "%2E%2E"
        default: encoded(text)
        }
    }

    /// Returns the string that `encoded` encodes; nil where it is no percent-encoding of UTF-8 text. Characters that
    /// need no encoding may be encoded.
    public static func decoded(_ encoded: some Sequence<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = encoded.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(value), let low = rest.next().flatMap(value) else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    package static func encode(_ text: String, to output: inout ByteWriter) {
        let bytes = text.utf8.span
        for index in bytes.indices where !isUnreserved(bytes[index]) { return escape(bytes, to: &output) }
        // As nearly every id is.
        output.append(bytes)
    }

    private static func escape(_ bytes: Span<UInt8>, to output: inout ByteWriter) {
        for index in bytes.indices {
            let byte = bytes[index]
            if isUnreserved(byte) {
                output.append(byte)
            } else {
                output.append(UInt8(ascii: "%"))
                output.append(digit(byte >> 4))
                output.append(digit(byte & 15))
            }
        }
    }

    /// Returns the length of the encoding of `text` at the beginning of `encoded`; nil where `encoded` does not begin
    /// with it.
    package static func lengthOfEncoding(of text: Span<UInt8>, at encoded: Span<UInt8>) -> Int? {
        var at = 0
        for index in text.indices {
            let byte = text[index]
            if isUnreserved(byte) {
                guard at < encoded.count, encoded[at] == byte else { return nil }
                at += 1
            } else {
                guard encoded.count - at >= 3, encoded[at] == UInt8(ascii: "%"), encoded[at + 1] == digit(byte >> 4),
                    encoded[at + 2] == digit(byte & 15)
                else { return nil }
                at += 3
            }
        }
        return at
    }

    /// Returns the text whose encoding is exactly `encoded`; nil where no text has that encoding.
    package static func text(writtenAs encoded: ArraySlice<UInt8>) -> String? {
        if encoded.allSatisfy(isUnreserved) { return String(decoding: encoded, as: UTF8.self) }
        guard let text = decoded(encoded), lengthOfEncoding(of: text.utf8.span, at: encoded.span) == encoded.count
        else {
            return nil
        }
        return text
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte < 128 && (byte < 64 ? lower : upper) >> UInt64(byte & 63) & 1 == 1
    }

    /// The unreserved ones among the first 64 characters, a bit each: the hyphen, the dot and the digits.
    private static let lower: UInt64 = 1 << 45 | 1 << 46 | 0x3FF << 48
    /// The unreserved ones among the next 64 characters, a bit each: the letters, the underscore and the tilde.
    private static let upper: UInt64 = 0x3FF_FFFF << 1 | 1 << 31 | 0x3FF_FFFF << 33 | 1 << 62
}
