/// What a running gateway makes of a file that was read again: what it goes by from now on, and what it leaves to its next start.
public struct GatewayReloadPlan: Sendable {
    /// The parts of the file, beside `pickup`, that a gateway is made of at the start.
    private static let fixed: Set<Substring> = ["kafka", "topics", "telemetry", "pickup"]

    /// What the gateway goes by: the new file, with the old values of what needs a restart.
    public let configuration: Configuration
    /// What changes: keys, and apps as `apps.NAME`.
    public let changes: [String]
    /// The keys that differ from what the gateway was started with and need a restart.
    public let needsRestart: [String]

    /// Whether there is nothing to take over.
    public var isEmpty: Bool { changes.isEmpty }

    /// - Parameters:
    ///   - started: what the gateway was started with.
    ///   - running: what it goes by.
    ///   - new: what the file says now; it is right, and has a gateway.
    public init(started: Configuration, running: Configuration, new: Configuration) {
        var target = new
        target.kafka = started.kafka
        target.topics = started.topics
        target.telemetry = started.telemetry
        configuration = target
        let before = Dictionary(running.apps.map { ($0.name, $0) }) { first, _ in first }
        let still = Set(new.apps.map(\.name))
        let apps =
            new.apps.filter { app in before[app.name].map { !app.isSame(as: $0) } ?? true }.map(\.name)
            + running.apps.map(\.name).filter { !still.contains($0) }
        changes =
            running.written.changes(to: new.written)
            .filter { $0.change == .reloadsInGateway || $0.name == "log.level" }.map(\.name) + apps.map { "apps.\($0)" }
        needsRestart = started.written.changes(to: new.written).filter { change in
            change.change == .needsRestart
                && (change.name == "log.format" || Self.fixed.contains(change.name.prefix { $0 != "." }))
        }.map(\.name)
    }
}

extension Configuration.App {
    fileprivate func isSame(as old: Configuration.App) -> Bool {
        fingerprint == old.fingerprint && topics == old.topics
    }
}
