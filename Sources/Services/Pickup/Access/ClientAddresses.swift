import Formats
import HTTPTypes
import NIOCore
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

    /// Returns whether `address` belongs to a trusted proxy.
    func isTrusted(_ address: IPAddress) -> Bool { trusted.contains { $0.contains(address) } }

    private func hops(_ headers: HTTPFields) -> [IPAddress?] {
        switch header {
        case .xForwardedFor: Self.list.map { ForwardedHops.listed(in: headers[values: $0]) } ?? []
        case .forwarded: Self.forwarded.map { ForwardedHops.named(in: headers[values: $0]) } ?? []
        }
    }
}
