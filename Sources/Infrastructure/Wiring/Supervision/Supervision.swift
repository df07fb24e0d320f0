import Synchronization

/// The reports of a service to its service manager: that it has started, that it is alive, and its condition.
package final class Supervision: Sendable {
    /// The interval between two looks at a service that is starting.
    private static let startInterval = Duration.milliseconds(100)
    /// The interval between two looks without a watchdog.
    private static let restInterval = Duration.seconds(5)

    private let supervisor: Supervisor
    private let hasStarted = Mutex(false)
    private let isStarted: @Sendable () -> Bool
    private let condition: @Sendable () -> String

    /// The reports to `supervisor`.
    ///
    /// - Parameters:
    ///   - isStarted: Returns whether the service has started; the service may also report it with `started()`.
    ///   - condition: Returns the condition of the service, for people.
    package init(
        _ supervisor: Supervisor, isStarted: @escaping @Sendable () -> Bool = { false },
        condition: @escaping @Sendable () -> String = { "" }
    ) {
        self.supervisor = supervisor
        self.isStarted = isStarted
        self.condition = condition
    }

    /// Reports, once, that the service has started.
    package func started() {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        if isFirst { supervisor.send(.ready) }
    }

    /// Reports until the task is canceled. A service that is not alive gets silent, so the service manager restarts it.
    ///
    /// - Parameter isAlive: Returns whether the service is alive, as its liveness probe does.
    package func run(isAlive: @Sendable () -> Bool) async {
        var reported = ""
        while !Task.isCancelled {
            if isStarted() { started() }
            if supervisor.watchdog != nil, isAlive() { supervisor.send(.alive) }
            let now = condition()
            if now != reported { supervisor.send(.status(now)) }
            reported = now
            let rest = supervisor.watchdog.map { $0 / 2 } ?? Self.restInterval
            // The loop's condition checks for cancellation.
            try? await Task.sleep(for: hasStarted.withLock { $0 } ? rest : Self.startInterval)
        }
    }

    /// Reports that the configuration is read again. The returned function reports that this is done. A service that has
    /// not started reports neither: the end of a reload would read as its start.
    package func reloading() -> @Sendable () -> Void {
        guard hasStarted.withLock({ $0 }) else { return {} }
        supervisor.send(.reloading(since: Supervisor.monotonicMicroseconds))
        return { [supervisor] in supervisor.send(.ready) }
    }

    /// Reports that the service is stopping.
    package func stopping() { supervisor.send(.stopping) }
}
