/// The effect of a reloaded file on a running gateway: the configuration it uses from now on, and the changes that need
/// a restart.
public struct GatewayReloadPlan: Sendable {
    /// The parts of the file, beside `pickup`, that a gateway is made of at the start.
    private static let fixed = Set(
        [
            Configuration.Kafka.section, Configuration.Topics.section, Configuration.Telemetry.section,
            Configuration.Pickup.section,
        ].map { Substring($0.name) })

    private static let log = (
        level: "\(Configuration.Log.section.name).\(Configuration.Log.level.name)",
        format: "\(Configuration.Log.section.name).\(Configuration.Log.format.name)"
    )

    /// The gateway's configuration from now on: the new file, with the old values of the keys that need a restart.
    public let configuration: Configuration
    /// The changes that the gateway applies: names of keys, and of apps as `apps.NAME`.
    public let changes: [String]
    /// The keys that differ from their values at the gateway's start and need a restart.
    public let needsRestart: [String]

    /// Whether there is nothing to take over.
    public var isEmpty: Bool { changes.isEmpty }

    /// - Parameters:
    ///   - started: The configuration that the gateway was started with.
    ///   - running: The configuration that the gateway uses now.
    ///   - new: The file's configuration now; it has no errors and has a gateway.
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
            .filter { $0.change == .reloadsInGateway || $0.name == Self.log.level }.map(\.name)
            + apps.map { "apps.\($0)" }
        needsRestart = started.written.changes(to: new.written).filter { change in
            change.change == .needsRestart
                && (change.name == Self.log.format || Self.fixed.contains(change.name.prefix { $0 != "." }))
        }.map(\.name)
    }
}

extension Configuration.App {
    fileprivate func isSame(as old: Configuration.App) -> Bool {
        fingerprint == old.fingerprint && topics == old.topics
    }
}
