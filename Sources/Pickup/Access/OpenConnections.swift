import Access
import Formats
import NIOCore

/// Limits on open connections: in all and per address. A trusted proxy has no limit of its own.
struct OpenConnections: Sendable {
    let places: OpenPlaces
    let ofAddress: Int
    let clients: ClientAddresses
    /// The places of callers behind trusted proxies. In the total, their connections count as the proxy's.
    private let proxied = OpenPlaces(most: .max)

    init(places: OpenPlaces, ofAddress: Int, clients: ClientAddresses) {
        (self.places, self.ofAddress, self.clients) = (places, ofAddress, clients)
    }

    /// Takes a place for `channel`.
    ///
    /// - Returns: nil where too many are open.
    func take(_ channel: any Channel) -> OpenPlace? {
        guard let address = Self.address(channel), !clients.isTrusted(address) else { return places.take([]) }
        return places.take([holder(address)])
    }

    /// Notes that a proxy's connection serves a caller at `address`.
    ///
    /// - Returns: false where too many of that address are open.
    func note(_ address: IPAddress, on channel: any Channel) -> Bool {
        guard let place = proxied.take([holder(address)]) else { return false }
        clients.connections.note(address, place, on: channel)
        return true
    }

    /// Returns whether a trusted proxy is at the other end of `channel`.
    func isTrusted(_ channel: any Channel) -> Bool { Self.address(channel).map(clients.isTrusted) ?? false }

    private func holder(_ address: IPAddress) -> OpenPlaces.Holder {
        .init("address", address.network.description, most: ofAddress)
    }

    private static func address(_ channel: any Channel) -> IPAddress? {
        channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
    }
}
