/// The characters that a vendor's ids are made of: a class in the notation of regular expressions, such as `[A-Za-z0-9_-]`, or
/// `[^*]` for any character but those. Its members are visible ASCII characters.
public struct IdentifierCharacters: Sendable, Equatable {
    /// The class as it was written.
    public let text: String
    private let isExcluding: Bool
    /// The members, a bit each.
    private let low: UInt64
    private let high: UInt64

    /// The class that `text` is; nil where it is none.
    public init?(_ text: String) {
        var members = Array(text.utf8)
        guard members.count > 2, members.count <= 200, members.removeFirst() == UInt8(ascii: "["),
            members.removeLast() == UInt8(ascii: "]")
        else { return nil }
        isExcluding = members.first == UInt8(ascii: "^")
        if isExcluding { members.removeFirst() }
        var bits: (low: UInt64, high: UInt64) = (0, 0)
        var index = 0
        while index < members.count {
            let first = members[index]
            var last = first
            if index + 2 < members.count, members[index + 1] == UInt8(ascii: "-") {
                last = members[index + 2]
                index += 2
            }
            index += 1
            guard first <= last, Self.isMember(first), Self.isMember(last) else { return nil }
            for byte in first...last {
                if byte < 64 { bits.low |= 1 << UInt64(byte) } else { bits.high |= 1 << UInt64(byte - 64) }
            }
        }
        guard bits.low != 0 || bits.high != 0 else { return nil }
        (low, high) = bits
        self.text = text
    }

    /// Returns whether `byte` is visible ASCII that needs no escaping.
    private static func isMember(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "[") && byte != UInt8(ascii: "]")
            && byte != UInt8(ascii: "\\")
    }

    /// Returns whether `identifier` consists of these characters alone.
    package func admits(_ identifier: String) -> Bool {
        identifier.utf8.allSatisfy { byte in
            let isMember = byte < 128 && (byte < 64 ? low >> UInt64(byte) : high >> UInt64(byte - 64)) & 1 == 1
            return isMember != isExcluding
        }
    }
}
