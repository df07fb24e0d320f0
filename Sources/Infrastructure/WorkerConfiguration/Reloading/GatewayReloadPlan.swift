/// The effect of a reloaded file on a running gateway: the configuration it uses from now on, and the changes that need
/// a restart.
public struct GatewayReloadPlan: Sendable {
    /// The parts of the file, beside `pickup`, that a gateway is made of at the start.
    private static let fixed = Set(
        [
            Configuration.Kafka.section, Configuration.Topics.section, Configuration.Telemetry.section,
            Configuration.Pickup.section,
        ].map { Substring($0.name) })

    /// The worker's and the process's keys that a gateway takes over as the worker does.
    private static let shared: Set<String> = [
        WrittenKeys.name(of: Configuration.Log.section, Configuration.Log.level),
        WrittenKeys.name(
            of: Configuration.Worker.section, Configuration.Admission.section, Configuration.Admission.coalesce),
        WrittenKeys.name(
            of: Configuration.Worker.section, Configuration.Admission.section, Configuration.Admission.probe),
    ]

    /// The process's key that needs a restart.
    private static let logFormat = WrittenKeys.name(of: Configuration.Log.section, Configuration.Log.format)

    /// The gateway's configuration from now on: the new file, with the old values of the keys that need a restart.
    package let configuration: Configuration
    /// The changes that the gateway applies: names of keys, and of apps as `apps.NAME`.
    package let changes: [String]
    /// The keys that differ from their values at the gateway's start and need a restart.
    package let needsRestart: [String]

    /// Whether there is nothing to take over.
    package var isEmpty: Bool { changes.isEmpty }

    /// - Parameters:
    ///   - started: The configuration that the gateway was started with.
    ///   - running: The configuration that the gateway uses now.
    ///   - new: The file's configuration now; it has no errors and has a gateway.
    package init(started: Configuration, running: Configuration, new: Configuration) {
        var target = new
        target.kafka = started.kafka
        target.topics = started.topics
        target.telemetry = started.telemetry
        target.worker.admission.subjects = started.worker.admission.subjects
        // Workers consume the topics that they were started with.
        let topics = Dictionary(started.apps.map { ($0.name, $0.topics) }) { first, _ in first }
        for index in target.apps.indices {
            if let topics = topics[target.apps[index].name] { target.apps[index].topics = topics }
        }
        configuration = target
        let before = Dictionary(running.apps.map { ($0.name, $0) }) { first, _ in first }
        let still = Set(new.apps.map(\.name))
        let apps =
            target.apps.filter { app in before[app.name].map { !app.isSame(as: $0) } ?? true }.map(\.name)
            + running.apps.map(\.name).filter { !still.contains($0) }
        changes =
            running.written.changes(to: new.written)
            .filter { $0.change == .reloadsInGateway || Self.shared.contains($0.name) }.map(\.name)
            + apps.map(Configuration.App.fullName)
        let kept = Set(
            topics.keys.filter(still.contains).map {
                "\(Configuration.App.fullName(of: $0)).\(WrittenApp.topicsKey.name)"
            })
        needsRestart = started.written.changes(to: new.written).filter { change in
            change.change == .needsRestart
                && (change.name == Self.logFormat || kept.contains(change.name)
                    || Self.fixed.contains(change.name.prefix { $0 != "." }))
        }.map(\.name)
    }
}

extension Configuration.App {
    fileprivate func isSame(as old: Configuration.App) -> Bool {
        fingerprint == old.fingerprint && topics == old.topics
    }
}
