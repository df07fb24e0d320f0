/// An IPv4 or IPv6 address, in one form: an IPv4 address in IPv6's clothes (`::ffff:192.0.2.1`) is the IPv4 address.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16 bytes.
    public let bytes: [UInt8]

    /// The address of `bytes`; nil where there are neither 4 nor 16.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        let isMapped =
            bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10..<12].allSatisfy { $0 == 0xFF }
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    /// An address as text (RFC 4291, section 2.2, and dotted decimal numbers without leading zeros), without brackets and port.
    /// A zone (`%eth0`) names an interface of this machine and is passed over.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= 64 else { return nil }
        let bare = text.prefix { $0 != "%" }
        guard let bytes = bare.utf8.contains(UInt8(ascii: ":")) ? Self.long(bare) : Self.short(bare) else { return nil }
        self.init(bytes: bytes)
    }

    /// Whether it is an IPv6 address.
    public var isLong: Bool { bytes.count == 16 }

    /// The address, or for IPv6 its network of 64 bits, which is the smallest that one customer of a provider has.
    public var network: IPAddress { isLong ? prefix(64) : self }

    /// Returns the first `length` bits; the others are 0.
    func prefix(_ length: Int) -> IPAddress {
        var bytes = bytes
        for index in bytes.indices {
            let kept = min(max(length - index * 8, 0), 8)
            bytes[index] &= UInt8(truncatingIfNeeded: 0xFF00 >> kept)
        }
        return IPAddress(unchecked: bytes)
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// All groups of an IPv6 address, none left out, or dotted decimal numbers.
    public var description: String {
        guard isLong else { return bytes.map { "\($0)" }.joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2).map { index in
            String(Int(bytes[index]) << 8 | Int(bytes[index + 1]), radix: 16)
        }.joined(separator: ":")
    }

    private static func short(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let numbers = parts.compactMap { part -> UInt8? in
            guard (1...3).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) }),
                part.count == 1 || part.first != UInt8(ascii: "0")
            else { return nil }
            return UInt8(String(decoding: part, as: UTF8.self))
        }
        return numbers.count == 4 ? numbers : nil
    }

    private static func long(_ text: some StringProtocol) -> [UInt8]? {
        let halves = String(text).split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        guard halves.count <= 2, let head = groups(halves[0]) else { return nil }
        guard halves.count == 2 else { return head.count == 16 ? head : nil }
        guard let tail = groups(halves[1]), head.count + tail.count <= 14 else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    /// Returns the bytes of groups between colons, the last of which may be an IPv4 address.
    private static func groups(_ text: Substring) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 8 else { return nil }
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.utf8.contains(UInt8(ascii: ".")) {
                guard let short = short(part) else { return nil }
                bytes += short
            } else {
                guard (1...4).contains(part.utf8.count),
                    part.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
            }
        }
        return bytes
    }
}
