/// Percent-encoding that keeps RFC 3986's unreserved characters (section 2.3) and nothing else.
public enum PercentEncoding {
    /// `text` as it may stand in one part of a path or a query, where a slash is no separator.
    public static func encoded(_ text: String) -> String {
        var output: [UInt8] = []
        encode(text, appendingTo: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// `text` as one part of a path between two slashes. Plain dots alone there mean a folder (RFC 3986, section 5.2.4) and
    /// would be taken out on the way.
    public static func pathSegment(_ text: String) -> String {
        switch text {
        case ".": "%2E"
        case "..": "%2E%2E"
        default: encoded(text)
        }
    }

    static func encode(_ text: String, appendingTo output: inout [UInt8]) {
        // As nearly every id is.
        if text.utf8.allSatisfy(isUnreserved) { return output.append(contentsOf: text.utf8) }
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                output.append(byte)
            } else {
                output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
