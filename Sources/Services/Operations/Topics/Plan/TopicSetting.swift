import WorkerConfiguration

/// A setting of a topic that Remint requires or recommends.
package struct TopicSetting: Sendable, Equatable {
    /// The setting that decides what happens to old records.
    package static let policy = "cleanup.policy"

    /// The codec of a topic of events, which strangers may write. A broker that stores batches unpacked refuses those that are then
    /// larger than `max.message.bytes`. With another value it bounds the packed size alone: it stores a batch of the same codec as it
    /// came.
    package static let unpacked = TopicSetting(
        "compression.type", "uncompressed",
        [
            TopicDemand(
                .includes("uncompressed"), .warning, "one small batch can unpack to more memory than workers have")
        ])

    package let name: String
    package let value: String
    /// The word of `cleanup.policy` without which the setting has no effect; nil where it always has an effect.
    package let policy: String?
    /// The requirements on other values.
    package let demands: [TopicDemand]

    init(_ name: String, _ value: String, under policy: String? = nil, _ demands: [TopicDemand]) {
        self.name = name
        self.value = value
        self.policy = policy
        self.demands = demands
    }

    init(_ name: String, milliseconds: Int64, under policy: String? = nil, _ demands: [TopicDemand]) {
        self.init(name, String(milliseconds), under: policy, demands)
    }

    /// Returns the first demand that a topic with `settings` fails; nil where it fails none, where the setting has no
    /// effect, or where the broker does not know it.
    package func failure(in settings: [String: String]) -> TopicDemand? {
        guard let actual = settings[name] else { return nil }
        if let policy, let inForce = settings[Self.policy], !Self.words(of: inForce).contains(policy) { return nil }
        return demands.first { !$0.accepts(actual) }
    }

    /// Returns the finding about a topic with `settings`; nil if it fails no demand.
    package func finding(in settings: [String: String]) -> TopicFinding? {
        guard let demand = failure(in: settings), let value = settings[name] else { return nil }
        return TopicFinding(
            severity: demand.severity, message: "\(name)=\(value): \(demand.consequence); set it to \(self.value)")
    }

    /// Returns the words of a list that is separated by commas, with or without spaces.
    static func words(of list: String) -> Set<String> {
        Set(list.split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init))
    }
}

/// A requirement on a topic's setting, and the consequence of a value that fails it.
package struct TopicDemand: Sendable, Equatable {
    package enum Check: Sendable, Equatable {
        /// A list, separated by commas, contains this word.
        case includes(String)
        /// A list, separated by commas, does not contain this word.
        case excludes(String)
        /// A number is no smaller; -1 stands for unlimited.
        case atLeast(Int64)
        /// A number is no larger.
        case atMost(Int64)
    }

    package let check: Check
    /// The severity of a value that fails the check.
    package let severity: TopicFinding.Severity
    /// The consequence of a value that fails the check, in a few words.
    package let consequence: String

    init(_ check: Check, _ severity: TopicFinding.Severity, _ consequence: String) {
        self.check = check
        self.severity = severity
        self.consequence = consequence
    }

    /// Returns whether `value`, as a broker writes it, passes. A value that is no number passes no check of numbers.
    package func accepts(_ value: String) -> Bool {
        switch check {
        case .includes(let word): TopicSetting.words(of: value).contains(word)
        case .excludes(let word): !TopicSetting.words(of: value).contains(word)
        case .atLeast(let least): Int64(value).map { $0 == -1 || $0 >= least } ?? false
        case .atMost(let most): Int64(value).map { $0 <= most } ?? false
        }
    }
}

package struct TopicFinding: Sendable, Equatable {
    package enum Severity: String, Sendable {
        /// The topic loses data, keeps records that must expire, or keeps the worker from working.
        case error
        /// An operator should look at the topic.
        case warning
    }

    package let severity: Severity
    /// The problem, its consequence and the right value, in one line.
    package let message: String
}

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
