package import Access
package import Formats
package import NIOCore

/// Limits on a server's open connections: in all and per address. A trusted proxy has no limit of its own.
///
/// If all places are taken, a connection that waits for its client gives way to a new one. Beside all of them there are
/// places for health checks: a process whose checks were refused would be restarted, and every caller with it.
package struct OpenConnections: Sendable {
    /// A connection's place, or the reason why there is none.
    enum Admission {
        /// A place. One for health may only check the process's health.
        case taken(Place, isForHealth: Bool)
        case refused(ConnectionGuard.Reason)
    }

    package static let healthPlaces = 32

    private let places: Places
    private let ofAddress: Int
    private let isProxy: @Sendable (IPAddress) -> Bool
    /// The places of callers behind trusted proxies. In the total, their connections count as the proxy's.
    private let proxied = Places(most: .max)
    private let health = Places(most: Self.healthPlaces)

    /// - Parameters:
    ///   - ofAddress: the most connections of an address.
    ///   - isProxy: whether an address is a trusted proxy's.
    package init(
        most: Int, ofAddress: Int = .max, isProxy: @escaping @Sendable (IPAddress) -> Bool = { _ in false }
    ) {
        places = Places(most: most)
        (self.ofAddress, self.isProxy) = (ofAddress, isProxy)
    }

    func take(_ channel: any Channel) -> Admission {
        let holders = Self.address(channel).flatMap { isProxy($0) ? nil : [holder($0)] } ?? []
        guard places.admits(holders) else { return .refused(.tooManyOfAddress) }
        if let place = places.take(holders) { return .taken(place, isForHealth: false) }
        return health.take(holders).map { .taken($0, isForHealth: true) } ?? .refused(.tooMany)
    }

    /// Takes a place for a caller at `address` that a proxy's connection serves.
    ///
    /// - Returns: nil where too many of that address are open.
    package func take(behindProxy address: IPAddress) -> Place? { proxied.take([holder(address)]) }

    package func isTrusted(_ channel: any Channel) -> Bool { Self.address(channel).map(isProxy) ?? false }

    private func holder(_ address: IPAddress) -> Places.Holder {
        .init("address", address.network.description, most: ofAddress)
    }

    private static func address(_ channel: any Channel) -> IPAddress? {
        channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
    }
}
