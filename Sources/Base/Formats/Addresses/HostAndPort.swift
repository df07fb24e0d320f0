/// An address to listen on, as `host:port` or `[address]:port`.
public struct HostAndPort: Sendable, CustomStringConvertible {
    /// A host name or an IP address, without brackets.
    public let host: String
    /// 0 to 65,535.
    public let port: Int

    /// The address as in a URL.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Makes the address of `port` at `host`.
    public init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    /// Reads `text`; nil if it is no address to listen on.
    public init?(_ text: String) {
        // The last colon: an IPv6 address has some of its own, in brackets.
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            case let host = text[..<colon].drop(while: { $0 == "[" }).prefix(while: { $0 != "]" }), !host.isEmpty,
            text.utf8.allSatisfy(Self.isPart)
        else { return nil }
        self.host = String(host)
        self.port = Int(port)
    }

    /// Returns whether `byte` may be in a name, an address or an IPv6 address's zone: none of these characters allows a
    /// scheme or credentials.
    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".:-_%[]".utf8.contains(byte)
        }
    }
}
