import Access
import Formats
import NIOCore

/// Bounds on open connections: in all and from an address.
struct OpenConnections: Sendable {
    let places: OpenPlaces
    let ofAddress: Int

    /// Takes a place for `channel`.
    ///
    /// - Returns: nil where too many are open.
    func take(_ channel: any Channel) -> OpenPlace? {
        guard let address = channel.remoteAddress?.ipAddress.flatMap({ IPAddress($0) }) else { return places.take([]) }
        return places.take([.init("address", address.network.description, most: ofAddress)])
    }
}
