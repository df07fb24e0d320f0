/// An `http` or `https` URL without query and fragment, in the one spelling that all its equivalent spellings share
/// (RFC 3986, sections 6.2.2 and 6.2.3), for the comparison with `htu` (RFC 9449, section 4.3).
public struct ComparableURL: Sendable, Hashable {
    /// The longest URL, in bytes.
    public static let mostBytes = 2048

    private let scheme: [UInt8]
    private let host: [UInt8]
    private let port: Int
    private let path: [UInt8]

    /// Parses a URL; nil where `text` is no such URL, contains a user, or is too long.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.mostBytes, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        let whole = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let colon = whole.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        scheme = whole[..<colon].map(Self.lowercased)
        guard let defaultPort = Self.defaultPorts[String(decoding: scheme, as: UTF8.self)] else { return nil }
        guard whole[(colon + 1)...].starts(with: "//".utf8) else { return nil }
        let rest = whole[(colon + 3)...]
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        guard let (host, port) = Self.authority(rest[..<end]) else { return nil }
        self.host = host
        self.port = port ?? defaultPort
        guard let path = Self.percentNormalised(rest[end...]) else { return nil }
        self.path = Self.withoutDotSegments(path)
    }

    private static let defaultPorts = ["http": 80, "https": 443]

    /// Returns host and port, the latter where there is one. A host in brackets is an IPv6 address, which contains
    /// colons.
    private static func authority(_ text: ArraySlice<UInt8>) -> (host: [UInt8], port: Int?)? {
        guard !text.contains(UInt8(ascii: "@")) else { return nil }
        let bracket = text.lastIndex(of: UInt8(ascii: "]")) ?? text.startIndex
        let colon = text[bracket...].firstIndex(of: UInt8(ascii: ":"))
        guard let host = percentNormalised(text[..<(colon ?? text.endIndex)]), !host.isEmpty else { return nil }
        let lowercase = host.map(lowercased)
        guard let colon, colon + 1 < text.endIndex else { return (lowercase, nil) }
        let digits = text[(colon + 1)...]
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(String(decoding: digits, as: UTF8.self)),
            port <= 65_535
        else { return nil }
        return (lowercase, port)
    }

    /// Returns the text with escapes in capital digits, and without needless escapes (section 6.2.2); nil for a
    /// malformed escape.
    private static func percentNormalised(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var output: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                output.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            let escaped = high << 4 | low
            if isUnreserved(escaped) {
                output.append(escaped)
            } else {
                let digits = Array("0123456789ABCDEF".utf8)
                output += [byte, digits[Int(high)], digits[Int(low)]]
            }
        }
        return output
    }

    /// Removes dot segments (section 5.2.4) from a path that begins with a slash or is empty, which means a slash.
    private static func withoutDotSegments(_ path: [UInt8]) -> [UInt8] {
        var kept: [ArraySlice<UInt8>] = []
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in zip(segments.indices, segments) {
            let isParent = segment.elementsEqual("..".utf8)
            guard isParent || segment.elementsEqual(".".utf8) else {
                kept.append(segment)
                continue
            }
            if isParent { _ = kept.popLast() }
            if index == segments.endIndex - 1 { kept.append([]) }
        }
        return kept.isEmpty ? [UInt8(ascii: "/")] : kept.flatMap { [UInt8(ascii: "/")] + $0 }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
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
