/// The host of a URL, lowercase.
struct HostName: Sendable, Equatable {
    /// The host as a URL contains it: an IPv6 address in its brackets.
    let text: String
    /// Whether it is this machine.
    let isLoopback: Bool

    /// A DNS name, an IPv4 address or an IPv6 address in brackets; nil for anything else. `text` is visible ASCII.
    init?(_ text: some StringProtocol) {
        let name = text.lowercased()
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        if name.hasPrefix("[") {
            guard name.hasSuffix("]"), Self.isIPv6(name.dropFirst().dropLast()) else { return nil }
            isLoopback = name == "[::1]"
        } else if labels.last?.first?.isNumber == true {
            // No top-level domain begins with a digit, and what looks like half an address is a whole one to some.
            guard Self.isIPv4(labels) else { return nil }
            isLoopback = labels.first == "127"
        } else {
            guard name.count <= 253, labels.allSatisfy(Self.isLabel) else { return nil }
            isLoopback = name == "localhost"
        }
        self.text = name
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.count) && label.first != "-" && label.last != "-"
            && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }

    /// Returns whether `parts` are four decimal bytes. A byte with a leading zero is octal to some readers, so it is
    /// refused.
    private static func isIPv4(_ parts: [Substring]) -> Bool {
        parts.count == 4
            && parts.allSatisfy { part in
                part.allSatisfy(\.isNumber) && UInt8(part) != nil && (part == "0" || part.first != "0")
            }
    }

    /// Returns whether `address` is an IPv6 address (RFC 4291, section 2.2), without a zone.
    private static func isIPv6(_ address: Substring) -> Bool {
        let sides = address.split(separator: "::", omittingEmptySubsequences: false)
        guard sides.count <= 2 else { return false }
        var groups = 0
        for (index, side) in sides.enumerated() where !side.isEmpty {
            let parts = side.split(separator: ":", omittingEmptySubsequences: false)
            for (place, part) in parts.enumerated() {
                let isLast = index == sides.count - 1 && place == parts.count - 1
                if isLast, isIPv4(part.split(separator: ".", omittingEmptySubsequences: false)) {
                    groups += 2
                } else {
                    guard (1...4).contains(part.count), part.allSatisfy(\.isHexDigit) else { return false }
                    groups += 1
                }
            }
        }
        return sides.count == 2 ? groups < 8 : groups == 8
    }
}
