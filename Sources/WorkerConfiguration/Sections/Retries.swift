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
    /// Read by itself, for tiers must grow.
    static let tierCount = 1...8
    static let tierRange: ClosedRange<Duration> = .seconds(1)...(.seconds(86_400))
    static let tiersKey = KeyDescription(
        "tiers", .list(of: .duration(tierRange), count: tierCount),
        standard: "[\(Configuration.Retries().tiers.map(\.name).joined(separator: ", "))]",
        "How long an event waits before each further attempt: one to eight, each longer than the one before. Each is a topic."
    )

    static let keys = [tiersKey] + settings.map(\.description)

    static let settings: [Setting<Self>] = [
        .integer(
            "max_attempts", \.maxAttempts, in: 1...100, change: .reloads,
            "The number of attempts in all, the first one included."),
        .duration(
            "deadline", \.deadline, in: .seconds(1)...(.seconds(30 * 86_400)), change: .reloads,
            "How long after its first failure an event may still be tried."),
    ]
}
