import Logging
import ServiceLifecycle

/// The end of a gateway, in the order in which nobody loses anything: it is not ready any more and serves on, until whoever sends
/// devices to it has noticed; then streams are told to come back, waiting calls to ask again, some at a time; then the port closes.
struct PickupDrain: Sendable {
    /// How many are let go at once: a mass close would stall everybody else, and send all devices to the next instance together.
    private static let slice = (count: 500, pause: Duration.milliseconds(20))

    let health: GatewayHealth
    let desk: TokenDesk
    /// How long it serves on (`pickup.drain`).
    let grace: Duration
    let logger: Logger

    /// Returns when nobody waits any more.
    func run() async {
        health.stop()
        logger.notice("the gateway was told to stop; it serves on for the time of pickup.drain")
        // A cancellation ends the process: whatever is left of this goes on at once.
        try? await Task.sleep(for: grace)
        health.beginClosing()
        while desk.hushSome(atMost: Self.slice.count) { try? await Task.sleep(for: Self.slice.pause) }
        while desk.room.drain(atMost: Self.slice.count) { try? await Task.sleep(for: Self.slice.pause) }
        // Streams that were let in the moment before.
        while desk.hushSome(atMost: Self.slice.count) { try? await Task.sleep(for: Self.slice.pause) }
    }

    /// Runs `service` until the graceful shutdown of this task has been drained: the service itself sees it only then.
    ///
    /// - Throws: whatever ends the service before.
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
                // The service's end is awaited, not this task's.
                try await Task.sleep(for: .seconds(86_400))
            }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }
}
