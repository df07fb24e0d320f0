import AdapterKit
import Records

/// The sampled flag of an event's trace context, read without an allocation: most events are not sampled, and every
/// event is checked.
enum SampledFlag {
    /// The event has no context.
    case absent
    /// The event has a context that is sampled, or may be sampled.
    case set
    /// The event has a context that is not sampled.
    case clear

    /// Reads the flag from the headers of `body`. Without them, reads the members of a structured CloudEvent.
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

    /// Returns the place of the value of the first member `traceparent` in `value`, at any depth. `EventTracing` parses
    /// the member's context only for a sampled event.
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

    /// Reads the flag: the last digit of the flags, the 55th character (W3C Trace Context, section 3.2.2), is odd if it
    /// is set.
    private static func flag(in bytes: [UInt8], _ text: Range<Int>) -> SampledFlag {
        guard text.count >= 55 else { return .absent }
        let digit = bytes[text.lowerBound + 54]
        // The bytes of 0 to 9 have the parity of their digits; those of a to f have the opposite one.
        let isOdd = digit >= UInt8(ascii: "a") ? digit % 2 == 0 : digit % 2 == 1
        return isOdd ? .set : .clear
    }

    private static func isEqual(_ bytes: [UInt8], _ part: Range<Int>, _ text: StaticString) -> Bool {
        part.count == text.utf8CodeUnitCount && hasPrefix(bytes, part, text)
    }

    /// Returns whether `part` begins with `text`, which is lowercase. Media types are case-insensitive (RFC 9110,
    /// section 8.3.1). No other header differs from the compared names in case only.
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
