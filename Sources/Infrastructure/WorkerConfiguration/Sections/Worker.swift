extension Configuration {
    /// The worker's batches, limits, retries and look-ups.
    public struct Worker: Sendable, WithDefaults {
        /// The most events that the worker reads ahead from a lane, `worker.batch.events`: two batches. 1 counts as 2.
        public var readAheadEvents = 2000
        /// The longest time that a batch waits to fill: never longer than a commit takes.
        public var batchLinger = Duration.milliseconds(20)
        /// The longest value that is read, in bytes.
        public var maximumEventBytes = 1 << 20
        /// The memory limit of consumed events that have not finished, in bytes. At the limit the worker consumes no
        /// more.
        public var memory = 32 << 20
        /// The longest time that a stop may take.
        public var shutdownDeadline = Duration.seconds(25)
        /// The minimum share of each batch reserved for bulk events, if there are any.
        public var bulkShare = 0.1
        /// The delays and limits of retries.
        public var retries = Retries()
        /// The settings of coalescing and the loop guard.
        public var admission = Admission()
        /// The settings common to the look-ups of all apps.
        public var lookups = Lookups()

        /// Every default.
        public init() {}
    }
}

extension Configuration.Worker {
    static let section = SectionDescription(
        "worker", "Limits, batches, retries and look-ups of the worker.", keys: settings.map(\.description),
        sections: [
            batch, Configuration.Retries.section, Configuration.Admission.section, Configuration.Lookups.section,
        ])

    static let batch = SectionDescription("batch", "", keys: batchSettings.map(\.description))

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
