/// The URL of a REST API. It has one spelling of whatever can be written in several ways: two endpoints are the same
/// where their texts are.
public struct EndpointURL: Sendable, Equatable {
    /// The reason why a string is no endpoint. The message never repeats the string, which may hold a secret.
    public struct Problem: Error, Equatable {
        /// The rule that the text breaks, as the rest of a sentence about it.
        public let message: String
    }

    /// Scheme, host, port where it is not the scheme's own, and path without a slash at its end.
    public let text: String
    /// The host and, where it is not the scheme's own, the port, as logs may show them.
    public let authority: String
    /// Whether it is https.
    public let isEncrypted: Bool
    /// Whether it is this machine: 127.0.0.0/8, ::1, localhost.
    public let isLoopback: Bool

    /// The endpoint in `text` (RFC 3986, without user info, query and fragment).
    public init(parsing text: String) throws(Problem) {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Problem(message: "must be a URL of visible ASCII characters")
        }
        guard let separator = text.firstRange(of: "://"),
            case let scheme = text[..<separator.lowerBound].lowercased(), ["http", "https"].contains(scheme)
        else { throw Problem(message: "must be a URL that begins with https://") }
        let rest = text[separator.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else {
            throw Problem(message: "must not hold a user name or a password; they have keys of their own")
        }
        guard !rest.contains(where: { "?#".contains($0) }) else {
            throw Problem(message: "must have no query and no fragment")
        }
        let (name, port) = try Self.split(authority)
        guard let host = HostName(name) else {
            throw Problem(message: "must name a host: a DNS name, an IPv4 address, or an IPv6 address in brackets")
        }
        let usual: UInt16 = scheme == "https" ? 443 : 80
        let suffix = port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
        isEncrypted = scheme == "https"
        isLoopback = host.isLoopback
        self.authority = host.text + suffix
        self.text = "\(scheme)://\(host.text)\(suffix)\(try Self.path(rest[authority.endIndex...]))"
    }

    private static func split(_ authority: Substring) throws(Problem) -> (host: Substring, port: UInt16?) {
        // An IPv6 address has colons of its own; without its second bracket it is no host, however far it goes.
        let bracket = authority.firstIndex(of: "]").map(authority.index(after:))
        let end = authority.hasPrefix("[") ? bracket : authority.firstIndex(of: ":")
        let host = authority[..<(end ?? authority.endIndex)]
        let rest = authority[host.endIndex...]
        guard !rest.isEmpty else { return (host, nil) }
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.allSatisfy(\.isNumber), let port = UInt16(digits), port > 0 else {
            throw Problem(message: "must have a port from 1 to 65535, or none")
        }
        return (host, port)
    }

    private static func path(_ path: Substring) throws(Problem) -> String {
        var segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        if segments.last?.isEmpty == true { segments.removeLast() }
        guard segments.allSatisfy(isSegment) else {
            throw Problem(message: "must have a path of percent-encoded parts, none of them empty, . or ..")
        }
        return segments.map { "/\($0)" }.joined()
    }

    /// Returns whether `segment` is `1*pchar` and not dots alone, with which a joined path could climb.
    private static func isSegment(_ segment: Substring) -> Bool {
        ![".", ".."].contains(segment.lowercased().replacing("%2e", with: ".")) && isEncodedSegment(segment)
    }

    /// Returns whether `text` is `1*pchar` (RFC 3986, section 3.3).
    public static func isEncodedSegment(_ text: Substring) -> Bool {
        var rest = text
        while let character = rest.popFirst() {
            if character == "%" {
                guard rest.prefix(2).count == 2, rest.prefix(2).allSatisfy(\.isHexDigit) else { return false }
                rest = rest.dropFirst(2)
            } else if !character.isASCII
                || !character.isLetter && !character.isNumber
                    && !"-._~!$&'()*+,;=:@".contains(character)
            {
                return false
            }
        }
        return !text.isEmpty
    }
}
