import Access
import Formats
import NIOCore

/// Limits on open connections: in all and per address. A trusted proxy has no limit of its own.
///
/// Where all places are taken, a connection that waits for its client gives way to a new one. Beside all of them there are
/// places for health checks: a gateway whose checks were refused would be restarted, and every device with it.
struct OpenConnections: Sendable {
    /// A connection's place.
    struct Taken: Sendable {
        let place: OpenPlace
        /// Whether the connection is one above the limit, which may only check the gateway's health.
        let isForHealth: Bool
        /// The connections that it waits among.
        let idle: IdleConnections
    }

    /// The number of places for health checks.
    static let healthPlaces = 32

    let places: OpenPlaces
    let ofAddress: Int
    let clients: ClientAddresses
    /// Called when a connection is closed because another one takes its place.
    let gaveWay: @Sendable () -> Void
    /// The places of callers behind trusted proxies. In the total, their connections count as the proxy's.
    private let proxied = OpenPlaces(most: .max)
    private let idle = IdleConnections()
    private let health = (places: OpenPlaces(most: Self.healthPlaces), idle: IdleConnections())

    init(
        places: OpenPlaces, ofAddress: Int, clients: ClientAddresses, gaveWay: @escaping @Sendable () -> Void = {}
    ) {
        (self.places, self.ofAddress, self.clients, self.gaveWay) = (places, ofAddress, clients, gaveWay)
    }

    /// Takes a place for `channel`.
    ///
    /// - Returns: nil where too many are open.
    func take(_ channel: any Channel) -> Taken? {
        let holders = Self.address(channel).flatMap { clients.isTrusted($0) ? nil : [holder($0)] } ?? []
        if let taken = take(holders, places, idle, isForHealth: false) { return taken }
        guard places.admits(holders) else { return nil }
        return take(holders, health.places, health.idle, isForHealth: true)
    }

    private func take(
        _ holders: [OpenPlaces.Holder], _ places: OpenPlaces, _ idle: IdleConnections, isForHealth: Bool
    ) -> Taken? {
        if let place = places.take(holders) { return Taken(place: place, isForHealth: isForHealth, idle: idle) }
        guard places.admits(holders), idle.giveWay() else { return nil }
        gaveWay()
        return places.take(holders).map { Taken(place: $0, isForHealth: isForHealth, idle: idle) }
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
