/// A range of addresses that share their first bits, as `10.0.0.0/8` (RFC 4632); an address alone is a range of one.
public struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    private let first: IPAddress
    private let length: Int

    /// Parses a range; nil where `text` is no range, or has bits beyond its length: `10.0.0.1/8` may be a mistake.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress($0) }), !text.utf8.contains(UInt8(ascii: "%")) else {
            return nil
        }
        let most = address.bytes.count * 8
        var length = most
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(parts[1]),
                (0...most).contains(number)
            else { return nil }
            length = number
        }
        guard address.prefix(length) == address else { return nil }
        (first, self.length) = (address, length)
    }

    /// Returns whether `address` is in the range.
    public func contains(_ address: IPAddress) -> Bool {
        address.bytes.count == first.bytes.count && address.prefix(length) == first
    }

    /// The range as `ADDRESS/LENGTH`.
    public var description: String { "\(first)/\(length)" }
}
