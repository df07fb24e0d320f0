import YAMLReading
import Yams

extension Configuration {
    /// The worker's batches, limits, retries and look-ups.
    public struct Worker: Sendable, WithDefaults {
        /// The most events that the worker reads ahead from a lane, `worker.batch.events`: two batches. 1 counts as 2.
        package var readAheadEvents = 2000
        /// The longest time that a batch waits to fill: never longer than a commit takes.
        package var batchLinger = Duration.milliseconds(20)
        /// The longest value that is read, in bytes.
        package var maximumEventBytes = 1 << 20
        /// The memory limit of consumed events that have not finished, in bytes. At the limit the worker consumes no
        /// more.
        package var memory = 32 << 20
        package var shutdownDeadline = Duration.seconds(25)
        package var bulkShare = 0.1
        package var retries = Retries()
        /// The settings of coalescing and the loop guard.
        package var admission = Admission()
        /// The settings common to the look-ups of all apps.
        package var lookups = Lookups()
    }
}

extension Configuration.Worker {
    static let section = SectionDescription(
        "worker", "Limits, batches, retries and look-ups of the worker.", keys: settings.map(\.description),
        sections: [
            batch, Configuration.Retries.section, Configuration.Admission.section, Configuration.Lookups.section,
        ])

    static let batch = SectionDescription("batch", "", keys: batchSettings.map(\.description))

    init(reading section: Section) {
        let batch = section.section(Self.batch)
        batch.read(Self.batchSettings, into: &self)
        batch.finish()
        section.read(Self.settings, into: &self)
        section.readSection(into: &retries)
        section.readSection(into: &admission)
        section.readSection(into: &lookups)
        section.finish()
    }

    static let settings: [Setting<Self>] = [
        .number(
            "bulk_share", \.bulkShare, in: 0...0.5, change: .reloads,
            """
            Minimum share of each batch that is reserved for bulk events, if there are any. In the rest of the batch, \
            live events have priority.
            """),
        .bytes(
            "memory", \.memory, in: (4 << 20)...(64 << 30), change: .reloads,
            """
            Maximum memory of unfinished events. Above this limit, the worker consumes no further events. The outputs \
            of these events and the Kafka clients use up to four times as much in addition.
            """),
        .integer(
            "max_event_bytes", \.maximumEventBytes, in: 1024...(64 << 20), change: .reloads,
            "Maximum size of an event's value, in bytes. The worker dead-letters a larger event as event_too_large."),
        .duration(
            "shutdown_deadline", \.shutdownDeadline, in: .seconds(1)...(.seconds(600)),
            "Longest time that a shutdown may take. After this time, the process exits, even with unfinished work."),
    ]

    static let batchSettings: [Setting<Self>] = [
        .integer(
            "events", \.readAheadEvents, in: 1...100_000, change: .reloads,
            """
            Maximum number of events that the worker reads ahead from each lane. Half of this number is the maximum \
            size of a batch. If signatures are cheap, a larger number makes the worker faster in a backlog. Each event \
            needs about 10 to 20 kB of memory.
            """),
        .duration(
            "linger", \.batchLinger, in: .milliseconds(1)...(.seconds(10)), change: .reloads,
            "Longest time that a batch waits for further events, but never longer than a commit takes."),
    ]
}

extension Configuration {
    /// The delays and limits of retries.
    public struct Retries: Sendable, WithDefaults {
        /// A delay as the file writes it, which is also the end of its topic's name.
        public struct Tier: Sendable, Equatable {
            /// Such as `10s`.
            package let name: String
            /// The time that events wait.
            package let delay: Duration
        }

        /// The tiers, shortest first.
        package var tiers = [
            Tier(name: "10s", delay: .seconds(10)), Tier(name: "1m", delay: .seconds(60)),
            Tier(name: "10m", delay: .seconds(600)),
        ]
        /// The most attempts for an event, the first one included.
        package var maxAttempts = 8
        /// The time after its first failure in which an event may still be retried.
        package var deadline = Duration.seconds(86_400)
    }
}

extension Configuration.Retries: DeclaredSection {
    static let tierCount = 1...8
    static let tierRange: ClosedRange<Duration> = .seconds(1)...(.seconds(86_400))
    private static let tiersKey = FileKey(
        "tiers", .list(of: .duration(tierRange), count: tierCount),
        standard: "[\(Self().tiers.map(\.name).joined(separator: ", "))]",
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
    private static func readTiers(_ section: Section, _ name: String) -> [Tier]? {
        guard let node = section.value(name) else { return nil }
        let path = section.path(name)
        guard let entries = node.sequence, tierCount.contains(entries.count) else {
            section.diagnostics.error(node, "\(path) must be a list of one to eight durations, such as [10s, 1m, 10m]")
            return nil
        }
        var tiers: [Tier] = []
        for entry in entries {
            guard let name = entry.scalar?.string, let delay = DurationText.parse(name),
                tierRange.contains(delay)
            else {
                section.diagnostics.error(entry, "a tier of \(path) must be a duration from 1s to 1d")
                return nil
            }
            if let last = tiers.last, delay <= last.delay {
                section.diagnostics.error(entry, "\(path) must grow from tier to tier; order them, and write each once")
                return nil
            }
            tiers.append(Tier(name: name, delay: delay))
        }
        return tiers
    }
}

extension Configuration {
    /// The settings of coalescing, the loop guard and suspensions.
    public struct Admission: Sendable, WithDefaults {
        /// The number of recent subjects that are remembered; 0 turns admission off.
        package var subjects = 250_000
        /// The time after a token for which reports of the same user count as caused by the failure that it answers.
        package var coalesce = Duration.seconds(2)
        /// The minimum number of distinct users whose tokens the vendor refuses, for the events of all users to wait.
        package var suspendAfter = 20
        /// The share they must be of the users who were given tokens meanwhile, from 0 to 1.
        package var suspendShare = 0.5
        package var suspendWindow = Duration.seconds(600)
        package var suspendMinimumAge = Duration.seconds(60)
        package var probeWait = Duration.seconds(60)

        /// The time after a token for which a report gets no other token; zero where nothing is coalesced.
        package var coalescing: Duration { subjects > 0 ? coalesce : .zero }
    }
}

extension Configuration.Admission: DeclaredSection {
    static let section = SectionDescription(
        "admission",
        """
        Limits on repeated tokens, and suspensions of apps. One failure gets one token. The workers suspend an app if \
        the vendor refuses the tokens of many users because of the key. These are at least suspend_after users, and at \
        least the share suspend_share of the users who got tokens within suspend_window.
        """, keys: settings.map(\.description))

    static let settings: [Setting<Self>] = [
        .integer(
            "subjects", \.subjects, in: 0...100_000_000,
            """
            Maximum number of recent subjects (users of tokens) that the worker remembers, at most 160 bytes each. 0 \
            turns off coalescing (one token for all reports of a failure) and the loop guard (the limit on repeated \
            tokens).
            """),
        coalesce,
        .integer(
            "suspend_after", \.suspendAfter, in: 1...1_000_000, change: .reloads,
            """
            Minimum number of users whose tokens the vendor refuses because of the key, for all events of the app to \
            wait. If fewer users got tokens within suspend_window, and the vendor refuses the tokens of all of them, \
            only these users' events wait.
            """),
        .share(
            "suspend_share", \.suspendShare, in: 0...1, change: .reloads,
            """
            Minimum share of users whose tokens the vendor refuses, among the users who got tokens within \
            suspend_window, for all events of the app to wait.
            """),
        .duration(
            "suspend_window", \.suspendWindow, in: .seconds(1)...(.seconds(86_400)), change: .reloads,
            "Length of the time window in which the workers count the users for a suspension."),
        .duration(
            "suspend_min_age", \.suspendMinimumAge, in: .seconds(1)...(.seconds(3600)), change: .reloads,
            """
            Minimum age of a user's token, for the workers to count the user for a suspension. The value must be at \
            most half of suspend_window.
            """),
        probe,
    ]

    static let coalesce: Setting<Self> = .duration(
        "coalesce", \.coalesce, in: .milliseconds(1)...(.seconds(60)), change: .reloads,
        "Time after a new token in which further reports of its user count as reports of the same failure.")

    static let probe: Setting<Self> = .duration(
        "suspend_probe", \.probeWait, in: .seconds(1)...(.seconds(3600)), change: .reloads,
        """
        Wait before the first probes of a suspended app. A probe is an event that the worker admits: the event's token \
        tests the key. After the same time again, the worker resumes the app if most users have not refused these \
        tokens. If fewer have not, only the events of the users with refused tokens wait. If several users refuse, the \
        next wait is twice as long, up to fifteen times the first wait.
        """)
}

extension Configuration {
    /// The settings common to the look-ups of all apps.
    public struct Lookups: Sendable, WithDefaults {
        package var cache = 100_000
    }
}

extension Configuration.Lookups: DeclaredSection {
    static let section = SectionDescription("lookups", "", keys: settings.map(\.description))

    static let settings: [Setting<Self>] = [
        .integer(
            "cache", \.cache, in: 100...10_000_000, change: .reloads,
            "Maximum number of look-up answers in the cache, over all apps.")
    ]
}
