/// The form of a request's lines, which the decoder does not report of bytes that it refuses. A value.
struct RequestLines: Sendable, Equatable {
    /// The length of the first line, in bytes.
    private(set) var firstLength = 0
    /// Whether a line had no carriage return at its end.
    private(set) var hasBareLineFeed = false
    /// The first line of HTTP/2's preface (RFC 9113, section 3.4).
    private static let preface = Array("PRI * HTTP/2".utf8)
    /// Whether the first line begins as the preface, as far as it was taken.
    private var isAsPreface = true
    private var isInFirst = true
    private var isAfterReturn = false
    private var spaces = 0
    /// Whether the bytes before the first space are letters, digits and dashes, as every method's.
    private var isMethod = true

    /// Whether the first line has the form of a request's, whatever its method.
    var hasRequestLine: Bool { spaces >= 2 && isMethod }

    /// Whether the client speaks HTTP/2.
    var isPreface: Bool { isAsPreface && firstLength >= Self.preface.count }

    /// Takes the next byte of a line.
    mutating func take(_ byte: UInt8) {
        if byte == UInt8(ascii: "\n") {
            if !isAfterReturn { hasBareLineFeed = true }
            if isInFirst { firstLength += 1 }
            // Empty lines before a request do not count.
            if firstLength > 2 { isInFirst = false } else { firstLength = 0 }
        } else if isInFirst {
            if firstLength < Self.preface.count, byte != Self.preface[firstLength] { isAsPreface = false }
            firstLength += 1
            if byte == UInt8(ascii: " ") { spaces += 1 }
            if spaces == 0, !Self.isOfMethod(byte) { isMethod = false }
        }
        isAfterReturn = byte == UInt8(ascii: "\r")
    }

    private static func isOfMethod(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "\r"):
            true
        default: false
        }
    }
}
