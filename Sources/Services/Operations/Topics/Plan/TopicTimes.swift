import WorkerConfiguration

/// The settings of each kind of topic that follow from the configuration's token lifetimes and retry deadlines.
struct TopicTimes {
    private static let hour: Int64 = 3_600_000
    private static let day = 24 * hour
    private static let week = 7 * day
    private static let retention = "retention.ms"
    /// Ten years in seconds: longer than any token lives, and short enough for arithmetic without overflow.
    private static let longest: Int64 = 315_360_000

    /// The longest lifetime of a token, in milliseconds.
    let lifetime: Int64
    /// The time after its first failure for which an event may be tried, in milliseconds.
    let deadline: Int64

    init(_ configuration: Configuration) {
        lifetime = Self.milliseconds(configuration.apps.map(\.lifetime).max() ?? 0)
        deadline = Self.milliseconds(configuration.worker.retries.deadline.components.seconds)
    }

    private static func milliseconds(_ seconds: Int64) -> Int64 { min(max(0, seconds), longest) * 1000 }

    /// The settings of a topic of events.
    var events: [TopicSetting] {
        [
            Self.deleting("events with one key drop each other before they are read"),
            TopicSetting(
                Self.retention, milliseconds: max(Self.week, 2 * deadline), under: "delete",
                [
                    TopicDemand(
                        .atLeast(deadline), .warning,
                        "events that wait out an outage are deleted sooner than worker.retries.deadline")
                ]),
            TopicSetting.unpacked,
        ]
    }

    /// The settings of a retry tier.
    var retries: [TopicSetting] {
        [
            Self.deleting("events with one key drop each other before they are tried again"),
            TopicSetting(
                Self.retention, milliseconds: max(Self.week, 2 * deadline), under: "delete",
                [
                    TopicDemand(
                        .atLeast(deadline), .error,
                        "events are deleted before worker.retries.deadline, without an outcome"
                    )
                ]),
        ]
    }

    /// The settings of the token topic.
    var tokens: [TopicSetting] {
        [
            TopicSetting(
                TopicSetting.policy, "compact,delete",
                [
                    TopicDemand(
                        .includes("compact"), .error,
                        "age alone decides which tokens stay, dead ones for as long as live ones"),
                    TopicDemand(.includes("delete"), .warning, "expired tokens stay forever"),
                ]),
            TopicSetting(
                Self.retention, milliseconds: max(Self.week, 2 * lifetime), under: "delete",
                [TopicDemand(.atLeast(lifetime), .error, "tokens are deleted while they live")]),
            TopicSetting(
                "min.compaction.lag.ms", milliseconds: 0, under: "compact",
                [TopicDemand(.atMost(lifetime), .error, "dead tokens are kept for longer than any token lives")]),
            TopicSetting(
                "max.compaction.lag.ms", milliseconds: min(max(Self.hour, lifetime), Self.day), under: "compact",
                [
                    // Segments are rolled as often as this; a token of minutes is no reason to roll them every minute.
                    TopicDemand(
                        .atMost(max(Self.hour, lifetime)), .warning,
                        "dead tokens may be kept for longer than any token lives")
                ]),
        ]
    }

    /// The settings of the dead letters' topic.
    static let deadLetters = [
        deleting("dead letters with one key drop each other"),
        TopicSetting(
            "message.timestamp.type", "LogAppendTime",
            [
                TopicDemand(
                    .includes("LogAppendTime"), .warning,
                    "workers learn no broker's time here, to compare their clocks with")
            ]),
        TopicSetting(
            retention, milliseconds: 30 * day, under: "delete",
            [TopicDemand(.atLeast(week), .warning, "dead letters are gone within a week, seen or not")]),
    ]

    /// The settings of the parked letters' topic. Letters may wait long for a fix, and marks must outlive the dead
    /// letters they are about.
    static let parkedLetters = [
        deleting("parked letters with one key drop each other"),
        TopicSetting(
            retention, milliseconds: 365 * day, under: "delete",
            [
                TopicDemand(
                    .atLeast(30 * day), .warning,
                    "parked letters are gone within a month, and what was sent back counts as a dead letter again")
            ]),
    ]

    /// The settings of the control topic.
    static let control = [
        TopicSetting(
            TopicSetting.policy, "compact",
            [
                TopicDemand(.excludes("delete"), .error, "suspensions and pauses are forgotten when they are old"),
                TopicDemand(.includes("compact"), .warning, "it grows for ever"),
            ])
    ]

    private static func deleting(_ consequence: String) -> TopicSetting {
        TopicSetting(
            TopicSetting.policy, "delete",
            [
                TopicDemand(.excludes("compact"), .error, consequence),
                TopicDemand(.includes("delete"), .warning, "it grows for ever"),
            ])
    }
}
