import Pickup
import ServiceLifecycle
import Synchronization

/// The gateway in a worker's process, for a small fleet. It starts once the brokers' address is known.
///
/// Only this program puts the two together: the module of the gateway cannot reach the worker's keys.
final class GatewayBesideWorker: Service, CustomStringConvertible, CustomReflectable {
    private let make: @Sendable (String) throws -> PickupService
    private let addresses: AsyncStream<String>
    private let address: AsyncStream<String>.Continuation
    private let gateway = Mutex<PickupService?>(nil)

    /// A gateway that waits for its brokers.
    ///
    /// - Parameter make: Returns the gateway of brokers at an address.
    init(_ make: @escaping @Sendable (String) throws -> PickupService) {
        self.make = make
        (addresses, address) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(1))
    }

    var description: String { "the gateway beside the worker" }
    var customMirror: Mirror { Mirror(self, children: []) }

    /// Starts the gateway with the brokers at `brokers`. Later calls have no effect.
    func start(brokers: String) { address.yield(brokers) }

    /// Requests a reload of the configuration. A gateway that waits for its brokers has the configuration of the process's
    /// start, and follows the file once it runs.
    func reload() { gateway.withLock { $0 }?.reload() }

    /// Returns whether the gateway's threads still work. A gateway that waits for its brokers has none.
    func isAlive() -> Bool { gateway.withLock { $0 }?.isAlive() ?? true }

    /// Serves devices until the process is asked to stop.
    ///
    /// - Throws: the error that keeps the gateway from starting or continuing.
    func run() async throws {
        let brokers = await withGracefulShutdownHandler {
            await addresses.first { _ in true }
        } onGracefulShutdown: { [address] in
            address.finish()
        }
        guard let brokers else { return }
        let service = try make(brokers)
        gateway.withLock { $0 = service }
        try await service.run()
    }
}
