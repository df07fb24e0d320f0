import YAMLReading
import Yams

extension Configuration {
    /// The delays and limits of retries.
    public struct Retries: Sendable, WithDefaults {
        /// A delay as the file writes it, which is also the end of its topic's name.
        public struct Tier: Sendable, Equatable {
            /// Such as `10s`.
            public let name: String
            /// The time that events wait.
            public let delay: Duration
        }

        /// The tiers, shortest first.
        public var tiers = [
            Tier(name: "10s", delay: .seconds(10)), Tier(name: "1m", delay: .seconds(60)),
            Tier(name: "10m", delay: .seconds(600)),
        ]
        /// The most attempts for an event, the first one included.
        public var maxAttempts = 8
        /// The time after its first failure in which an event may still be retried.
        public var deadline = Duration.seconds(86_400)

        /// Every default.
        public init() {}
    }
}

extension Configuration.Retries {
    static let tierCount = 1...8
    static let tierRange: ClosedRange<Duration> = .seconds(1)...(.seconds(86_400))
    private static let tiersKey = FileKey(
        "tiers", .list(of: .duration(tierRange), count: tierCount),
        standard: "[\(Configuration.Retries().tiers.map(\.name).joined(separator: ", "))]",
        """
        Waits of an event before its further attempts: one to eight durations, each longer than the previous one. \
        Each duration is a retry tier, with a topic of its own.
        """, readTiers)

    static let section = SectionDescription(
        "retries",
        """
        Retries of events whose failure may be temporary, such as an unusable key or a failed look-up. The event waits \
        in a retry tier (a topic with a delay), and then a worker tries the event again.
        """,
        keys: settings.map(\.description))

    static let settings: [Setting<Self>] = [
        Setting(tiersKey, \.tiers),
        .integer(
            "max_attempts", \.maxAttempts, in: 1...100, change: .reloads,
            "Maximum number of attempts for an event, including the first one."),
        .duration(
            "deadline", \.deadline, in: .seconds(1)...(.seconds(30 * 86_400)), change: .reloads,
            "Longest time after an event's first failure in which a worker may try the event again."),
    ]

    /// Returns the tiers in the key `name` of `section`; nil where it is absent or wrong.
    private static func readTiers(_ section: Section, _ name: String) -> [Configuration.Retries.Tier]? {
        guard let node = section.value(name) else { return nil }
        let path = section.path(name)
        guard let entries = node.sequence, Configuration.Retries.tierCount.contains(entries.count) else {
            section.diagnostics.error(node, "\(path) must be a list of one to eight durations, such as [10s, 1m, 10m]")
            return nil
        }
        var tiers: [Configuration.Retries.Tier] = []
        for entry in entries {
            guard let name = entry.scalar?.string, let delay = DurationText.parse(name),
                Configuration.Retries.tierRange.contains(delay)
            else {
                section.diagnostics.error(entry, "a tier of \(path) must be a duration from 1s to 1d")
                return nil
            }
            if let last = tiers.last, delay <= last.delay {
                section.diagnostics.error(entry, "\(path) must grow from tier to tier; order them, and write each once")
                return nil
            }
            tiers.append(Configuration.Retries.Tier(name: name, delay: delay))
        }
        return tiers
    }
}
