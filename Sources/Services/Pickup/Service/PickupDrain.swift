import Logging
import ServiceLifecycle
import Telemetry

/// The shutdown of a gateway, in an order in which no device loses anything. First the gateway is not ready any more
/// and serves on, until the load balancer has noticed. Then it asks streams to reconnect and waiting callers to ask
/// again, some at a time. Then the port closes.
struct PickupDrain: Sendable {
    /// The number of streams or calls that are closed together, and the pause after them. Closing all at once would
    /// stall every other call, and send all devices to the next instance together.
    private static let slice = (count: 500, pause: Duration.milliseconds(20))

    let health: GatewayHealth
    let store: TokenStore
    /// The time for which the gateway serves on (`pickup.drain`).
    let grace: Duration
    let logger: Logger

    /// Runs the drain, and returns when no call and no stream waits any more.
    func run() async {
        health.stop()
        logger.notice("gateway.draining", "the gateway is stopping; it serves until pickup.drain is over")
        // A cancellation ends the process, so the rest of the drain continues at once.
        try? await Task.sleep(for: grace)
        health.beginClosing()
        while store.hushSome(atMost: Self.slice.count) { try? await Task.sleep(for: Self.slice.pause) }
        while store.waiters.drain(atMost: Self.slice.count) { try? await Task.sleep(for: Self.slice.pause) }
        // The streams that were admitted just before.
        while store.hushSome(atMost: Self.slice.count) { try? await Task.sleep(for: Self.slice.pause) }
    }

    /// Runs `service` until the graceful shutdown of this task has been drained; only then the service sees the
    /// shutdown.
    ///
    /// - Throws: the error that ends the service early.
    func run(before service: any Service, logger: Logger) async throws {
        let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: logger))
        // A task of its own does not inherit the shutdown.
        let serving = Task.detached { try await group.run() }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                try await withTaskCancellationHandler {
                    try await serving.value
                } onCancel: {
                    serving.cancel()
                }
            }
            tasks.addTask {
                try await gracefulShutdown()
                await run()
                await group.triggerGracefulShutdown()
                // The group waits for the service's end, not for this task's.
                try await Task.sleep(for: .seconds(86_400))
            }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }
}
