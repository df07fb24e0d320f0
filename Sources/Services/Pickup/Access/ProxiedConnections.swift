import Access
import Formats
import NIOCore
import Synchronization

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
