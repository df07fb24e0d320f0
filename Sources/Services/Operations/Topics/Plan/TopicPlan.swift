import Formats

/// The difference between the topics that Remint needs and those that a cluster has.
package struct TopicPlan: Sendable, Equatable {
    /// A property of a topic that differs from the wanted one.
    package struct Change: Sendable, Equatable {
        /// `partitions`, `replication`, or the name of a setting.
        package let what: String
        package let actual: String
        package let wanted: String
    }

    package struct Entry: Sendable, Equatable {
        package let wanted: WantedTopic
        /// The actual topic; nil where it is missing.
        package let actual: ActualTopic?
        /// The necessary changes; empty for a missing topic.
        package let changes: [Change]
        /// The findings about the topic, the worst first.
        package let findings: [TopicFinding]

        /// Whether there is nothing to do.
        package var isSettled: Bool { actual != nil && changes.isEmpty }
    }

    /// Every topic, in the order of `WantedTopic.all`.
    package let entries: [Entry]

    /// The difference between `wanted` and `actual`, which has the topics by name.
    package init(_ wanted: [WantedTopic], _ actual: [String: ActualTopic]) {
        let largestEvent = wanted.filter { $0.use == .events }
            .compactMap { actual[$0.name]?.settings[Self.recordSize].flatMap { Int64($0) } }.max()
        let inputs = wanted.filter { $0.use == .events || $0.use == .retries }.compactMap { topic in
            actual[topic.name].map { (name: topic.name, partitions: $0.partitions) }
        }
        entries = wanted.map { topic in
            guard let found = actual[topic.name] else { return Self.missing(topic) }
            let sized = Self.tooSmall(topic.use, found, for: largestEvent)
            let unlike = inputs.contains { $0.name == topic.name } ? Self.unlike(found.partitions, inputs.first) : nil
            let findings =
                Self.broken(topic, found) + ReplicationRules.findings(found) + sized + (unlike.map { [$0] } ?? [])
            return Entry(
                wanted: topic, actual: found, changes: Self.changes(topic, found),
                findings: findings.filter { $0.severity == .error } + findings.filter { $0.severity != .error })
        }
    }

    /// The topics that do not exist.
    package var missing: [WantedTopic] { entries.filter { $0.actual == nil }.map(\.wanted) }
    /// The number of topics that need a change or are missing.
    package var unsettled: Int { entries.count { !$0.isSettled } }
    /// Whether a topic loses data, keeps records that must expire, or keeps the worker from working.
    package var hasErrors: Bool { entries.contains { $0.findings.contains { $0.severity == .error } } }

    /// Returns the finding about an input with `partitions`; nil if it has as many as the `first` input.
    package static func unlike(_ partitions: Int, _ first: (name: String, partitions: Int)?) -> TopicFinding? {
        guard let first, first.partitions != partitions else { return nil }
        return TopicFinding(
            severity: .warning,
            message:
                "\(partitions.of("partition")), but \(first.name) has \(first.partitions): different workers get one user's events of the two, and coalesce and limit them apart; give all inputs the same number"
        )
    }

    private static let recordSize = "max.message.bytes"

    private static func missing(_ topic: WantedTopic) -> Entry {
        let (severity, consequence): (TopicFinding.Severity, String) =
            switch topic.use {
            // Without the control topic a worker works, but alone.
            case .control: (.error, "suspensions and pauses hold for one worker alone, and end with it")
            // No worker uses it.
            case .parkedLetters: (.warning, "no dead letter can be parked, and redrives do not mark what they sent")
            case .events, .tokens, .retries, .deadLetters: (.error, "no worker is ready")
            }
        return Entry(
            wanted: topic, actual: nil, changes: [],
            findings: [
                TopicFinding(
                    severity: severity, message: "it is missing: \(consequence); make it with: remint topics create")
            ])
    }

    private static func changes(_ wanted: WantedTopic, _ actual: ActualTopic) -> [Change] {
        var changes: [Change] = []
        if actual.partitions < wanted.fewestPartitions {
            changes.append(
                Change(what: "partitions", actual: String(actual.partitions), wanted: String(wanted.partitions)))
        }
        if let replication = wanted.replication, actual.replication > 0, actual.replication < replication {
            changes.append(
                Change(what: "replication", actual: String(actual.replication), wanted: String(replication)))
        }
        for setting in wanted.settings where setting.failure(in: actual.settings) != nil {
            changes.append(
                Change(what: setting.name, actual: actual.settings[setting.name] ?? "", wanted: setting.value))
        }
        return changes
    }

    private static func broken(_ wanted: WantedTopic, _ actual: ActualTopic) -> [TopicFinding] {
        wanted.settings.compactMap { $0.finding(in: actual.settings) }
    }

    /// A limit of bytes for which no token and no letter by reference is too large: seal, headers and batch included.
    private static let leastRecord: Int64 = 16_384

    private static func tooSmall(
        _ use: WantedTopic.Use, _ topic: ActualTopic, for largestEvent: Int64?
    ) -> [TopicFinding] {
        guard let size = topic.settings[recordSize].flatMap({ Int64($0) }) else { return [] }
        let consequence: String? =
            switch use {
            case .tokens: "tokens may be larger, and the events of such a token end as mint_failed"
            case .deadLetters:
                "a letter may be larger even without its event, and then the first bad event stops every worker"
            case .events, .retries, .control, .parkedLetters: nil
            }
        if let consequence, size < leastRecord {
            return [
                TopicFinding(
                    severity: .error,
                    message: "\(recordSize)=\(size): \(consequence); set it to \(max(leastRecord, largestEvent ?? 0))")
            ]
        }
        guard use == .deadLetters, let largestEvent, size < largestEvent else { return [] }
        return [
            TopicFinding(
                severity: .warning,
                message:
                    "\(recordSize)=\(size): the largest events are no dead letters byte for byte; set it to \(largestEvent)"
            )
        ]
    }
}

/// The findings about a topic's replicas, whatever the operator asked for.
enum ReplicationRules {
    static let minimumInSync = "min.insync.replicas"

    static func findings(_ topic: ActualTopic) -> [TopicFinding] {
        let copies = topic.replication
        guard copies > 0 else { return [] }
        let minimum = topic.settings[minimumInSync].flatMap { Int($0) } ?? 1
        if copies < minimum {
            return [
                TopicFinding(
                    severity: .error,
                    message:
                        "\(copies.of("copy is", "copies are")) fewer than \(minimumInSync)=\(minimum): nothing can be written; add copies or lower it"
                )
            ]
        }
        if copies == 1 {
            return [
                TopicFinding(
                    severity: .warning, message: "one copy: what a broker's disk loses is lost; give it three copies")
            ]
        }
        if copies == minimum {
            return [
                TopicFinding(
                    severity: .warning,
                    message:
                        "\(copies.of("copy", "copies")) and \(minimumInSync)=\(minimum): nothing can be written while one broker is away; lower it or add a copy"
                )
            ]
        }
        return []
    }
}

package struct ActualTopic: Sendable, Equatable {
    package var partitions: Int
    /// The number of replicas of the partition with the fewest; 0 where it is unknown.
    package var replication: Int
    /// The settings in force for the topic, its own and the cluster's.
    package var settings: [String: String]

    package init(partitions: Int, replication: Int, settings: [String: String]) {
        self.partitions = partitions
        self.replication = replication
        self.settings = settings
    }
}
