import Formats
import HTTPTypes
import NIOCore
import WorkerConfiguration

/// Tells where a request comes from: from its connection's other end, or, where that is a trusted proxy, from the caller that the
/// proxy names.
struct ClientAddresses: Sendable {
    private static let list = HTTPField.Name("X-Forwarded-For")
    private static let forwarded = HTTPField.Name("Forwarded")

    let trusted: [AddressRange]
    let header: Configuration.Pickup.ProxyHeader
    /// The addresses that proxies named when they connected.
    let connections: ProxiedConnections

    /// Returns the address of the caller who sent `headers` over a connection.
    ///
    /// Of the hops that proxies name, the rightmost one that is no trusted proxy is the caller: what stands left of it is that caller's
    /// word. Where a proxy names no address, the caller is as good as that proxy.
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

    /// Whether `address` is a trusted proxy's.
    func isTrusted(_ address: IPAddress) -> Bool { trusted.contains { $0.contains(address) } }

    private func hops(_ headers: HTTPFields) -> [IPAddress?] {
        switch header {
        case .xForwardedFor: Self.list.map { ForwardedHops.listed(in: headers[values: $0]) } ?? []
        case .forwarded: Self.forwarded.map { ForwardedHops.named(in: headers[values: $0]) } ?? []
        }
    }
}
