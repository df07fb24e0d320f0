/// The URL of a vendor's API, and the requests below it.
///
/// What is put together here is what goes over the wire, byte by byte: a path cannot change the host, and a host cannot
/// hold a user.
struct LookupURL: Sendable, Equatable {
    /// Scheme, host and port, and the base path without a slash at its end.
    let base: String
    /// The host and, where one is given, the port: what an operator may read.
    let host: String

    /// - Throws: `EndpointError` where `text` is no URL of an API.
    init(_ text: String) throws(EndpointError) {
        let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
        guard let scheme else { throw Self.refused("it begins with https:// (or http://)") }
        let rest = text.dropFirst(scheme.count)
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var path = rest.dropFirst(host.count)
        guard !host.utf8.contains(UInt8(ascii: "@")) else { throw Self.refused("credentials do not stand in it") }
        guard Self.isAuthority(host) else { throw Self.refused("a host and, if any, a port follow the scheme") }
        guard Self.isEncoded(path), !path.utf8.contains(UInt8(ascii: "?")) else {
            throw Self.refused("a path may follow the host, percent-encoded, and nothing after it")
        }
        while path.hasSuffix("/") { path.removeLast() }
        base = scheme + host + path
        self.host = String(host)
    }

    /// The URL of a request for `target`, a path and a query; nil where that is neither.
    func appending(_ target: String) -> String? {
        guard target.utf8.first == UInt8(ascii: "/"), Self.isEncoded(target[...]) else { return nil }
        return base + target
    }

    private static func refused(_ rule: String) -> EndpointError {
        // The URL itself is not repeated: somebody may have put a key into it.
        EndpointError("the endpoint's URL cannot be used: \(rule)")
    }

    private static func isAuthority(_ text: Substring) -> Bool {
        var name = text
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else { return false }
            name = text[..<colon]
        }
        if name.hasPrefix("["), name.hasSuffix("]"), name.count > 2 {
            return name.dropFirst().dropLast().utf8.allSatisfy { isHexDigit($0) || ":.".utf8.contains($0) }
        }
        return !name.isEmpty && name.utf8.allSatisfy { isLetterOrDigit($0) || "-._".utf8.contains($0) }
    }

    /// Whether `text` has nothing in it but what a path and a query may have (RFC 3986, sections 3.3 and 3.4).
    private static func isEncoded(_ text: Substring) -> Bool {
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, rest.prefix(2).allSatisfy(isHexDigit) else { return false }
                rest = rest.dropFirst(2)
            } else if !isLetterOrDigit(byte), !"-._~!$&'()*+,;=:@/?".utf8.contains(byte) {
                return false
            }
        }
        return true
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
    }
}
