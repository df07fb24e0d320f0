import Access
import Formats
import HTTPTypes
import NIOCore
import Synchronization
import WorkerConfiguration

/// Determines a caller's address: the other end of its connection, or, where that is a trusted proxy, the address that
/// the proxy names.
struct ClientAddresses: Sendable {
    private static let list = HTTPField.Name("X-Forwarded-For")
    private static let forwarded = HTTPField.Name("Forwarded")

    let trusted: [AddressRange]
    let header: Configuration.Pickup.ProxyHeader
    /// The addresses that proxies named when they connected.
    let connections: ProxiedConnections

    /// Returns the address of the caller who sent `headers` over a connection.
    ///
    /// Of the hops that proxies name, the rightmost one that is no trusted proxy is the caller; the hops left of it are
    /// that caller's own claim. Where a proxy names no address, the proxy's own address counts.
    ///
    /// - Parameter peer: the connection's other end.
    func client(of headers: HTTPFields, on channel: ObjectIdentifier, from peer: SocketAddress?) -> IPAddress? {
        guard var address = connections[channel] ?? peer?.ipAddress.flatMap({ IPAddress($0) }) else { return nil }
        guard isTrusted(address) else { return address }
        for hop in hops(headers).reversed() {
            guard let hop else { return address }
            address = hop
            guard isTrusted(hop) else { return hop }
        }
        return address
    }

    func isTrusted(_ address: IPAddress) -> Bool { trusted.contains { $0.contains(address) } }

    private func hops(_ headers: HTTPFields) -> [IPAddress?] {
        switch header {
        case .xForwardedFor: Self.list.map { ForwardedHops.listed(in: headers[values: $0]) } ?? []
        case .forwarded: Self.forwarded.map { ForwardedHops.named(in: headers[values: $0]) } ?? []
        }
    }
}

/// The addresses that proxies name in a request's headers, from the caller's side to ours.
///
/// The leftmost hops may be the caller's own invention; each proxy appends on the right.
private enum ForwardedHops {
    /// Returns the hops of `X-Forwarded-For` headers; nil for a hop that is no address.
    static func listed(in values: [String]) -> [IPAddress?] {
        values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map { node(trimmed($0)) } }
    }

    /// Returns the hops of `Forwarded` headers (RFC 7239, section 4); nil for a hop that is no address, and a single
    /// nil where the header's syntax is wrong.
    static func named(in values: [String]) -> [IPAddress?] {
        var hops: [IPAddress?] = []
        for value in values {
            guard let elements = split(value[...], at: ",") else { return [nil] }
            for element in elements {
                guard let pairs = split(element, at: ";") else { return [nil] }
                let named = pairs.filter { trimmed($0).lowercased().hasPrefix("for=") }
                hops.append(named.count == 1 ? node(unquoted(trimmed(named[0]).dropFirst(4))) : nil)
            }
        }
        return hops
    }

    /// Parses an address with or without port, IPv6 in brackets or not; nil for a name such as `unknown`.
    private static func node(_ text: some StringProtocol) -> IPAddress? {
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[text.index(after: end)...]
            return rest.isEmpty || rest.first == ":" ? IPAddress(text[text.index(after: text.startIndex)..<end]) : nil
        }
        if let address = IPAddress(text) { return address }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? IPAddress(parts[0]) : nil
    }

    /// Splits at `separator` outside of quoted strings; nil where a quoted string does not end.
    private static func split(_ text: Substring, at separator: Character) -> [Substring]? {
        var parts: [Substring] = []
        var start = text.startIndex
        var (isQuoted, isEscaped) = (false, false)
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == separator, !isQuoted {
                parts.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        return isQuoted ? nil : parts + [text[start...]]
    }

    private static func unquoted(_ text: Substring) -> Substring {
        text.count >= 2 && text.first == "\"" && text.last == "\"" ? text.dropFirst().dropLast() : text
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}

/// The addresses that proxies named when they connected (PROXY protocol), for as long as the connections last.
final class ProxiedConnections: Sendable {
    private let known = Mutex<[ObjectIdentifier: (address: IPAddress, place: Place)]>([:])

    /// Returns the caller behind a connection; nil where no proxy named one.
    subscript(channel: ObjectIdentifier) -> IPAddress? { known.withLock { $0[channel]?.address } }

    /// Notes that `channel` is a connection of `address`, and keeps its `place` until the connection closes.
    func note(_ address: IPAddress, _ place: Place, on channel: any Channel) {
        let name = ObjectIdentifier(channel)
        known.withLock { $0[name] = (address, place) }
        channel.closeFuture.whenComplete { [weak self] _ in self?.known.withLock { _ = $0.removeValue(forKey: name) } }
    }
}
