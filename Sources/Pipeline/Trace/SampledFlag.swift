import AdapterKit
import Records

/// Whether whoever sent an event wants it followed, found out without a piece of memory: most events are not, and this is asked of
/// each.
enum SampledFlag {
    /// There is no context.
    case absent
    /// There is one, and it says so, or may say so.
    case set
    /// There is one, and it says that nobody does.
    case clear

    /// What the headers of `body` say and, where they say nothing, the members of a structured CloudEvent.
    init(in body: RecordBody) {
        var found: Range<Int>?
        var isHeader = false
        var isStructured = false
        body.forEachHeader { name, value in
            guard let value else { return }
            if Self.isEqual(body.bytes, name, "traceparent") {
                (found, isHeader) = (value, true)
            } else if !isHeader, Self.isEqual(body.bytes, name, "ce_traceparent") {
                found = value
            } else if Self.isEqual(body.bytes, name, "content-type") {
                isStructured = Self.hasPrefix(body.bytes, value, "application/cloudevents+json")
            }
        }
        if found == nil, isStructured, let value = body.valuePart { found = Self.member(in: body.bytes, value) }
        self = found.map { Self.flag(in: body.bytes, $0) } ?? .absent
    }

    /// Where the text of the first member `traceparent` stands, wherever in `value` it is: what it belongs to is looked at where it
    /// says that somebody wants to see the event.
    private static func member(in bytes: [UInt8], _ value: Range<Int>) -> Range<Int>? {
        let name: StaticString = "\"traceparent\""
        let length = name.utf8CodeUnitCount
        guard value.count > length else { return nil }
        for start in value.lowerBound..<(value.upperBound - length)
        where bytes[start] == UInt8(ascii: "\"") && isEqual(bytes, start..<(start + length), name) {
            var place = start + length
            while place < value.upperBound, " \t\r\n:".utf8.contains(bytes[place]) { place += 1 }
            return min(place + 1, value.upperBound)..<value.upperBound
        }
        return nil
    }

    /// The last digit of the flags, the 55th of the text (W3C Trace Context, section 3.2.2), is odd where it is set.
    private static func flag(in bytes: [UInt8], _ text: Range<Int>) -> SampledFlag {
        guard text.count >= 55 else { return .absent }
        let digit = bytes[text.lowerBound + 54]
        // The digits of the lower case: 0 to 9 are even and odd as their bytes, a to f the other way round.
        let isOdd = digit >= UInt8(ascii: "a") ? digit % 2 == 0 : digit % 2 == 1
        return isOdd ? .set : .clear
    }

    private static func isEqual(_ bytes: [UInt8], _ part: Range<Int>, _ text: StaticString) -> Bool {
        part.count == text.utf8CodeUnitCount && hasPrefix(bytes, part, text)
    }

    /// Whether `part` begins with `text`, which is in lower case; media types do not mind their case (RFC 9110, section 8.3.1), and no
    /// other header is called so in another one.
    private static func hasPrefix(_ bytes: [UInt8], _ part: Range<Int>, _ text: StaticString) -> Bool {
        guard part.count >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { wanted in
            for index in wanted.indices where bytes[part.lowerBound + index] | 0x20 != wanted[index] | 0x20 {
                return false
            }
            return true
        }
    }
}
