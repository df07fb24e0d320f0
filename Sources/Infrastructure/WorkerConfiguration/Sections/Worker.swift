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
        "worker", "How the worker works.", keys: settings.map(\.description),
        sections: [
            batch, Configuration.Retries.section, Configuration.Admission.section, Configuration.Lookups.section,
        ])

    static let batch = SectionDescription("batch", "", keys: batchSettings.map(\.description))

    static let settings: [Setting<Self>] = [
        .number(
            "bulk_share", \.bulkShare, in: 0...0.5, change: .reloads,
            "The least part of a batch that is bulk where there is enough of it. Live events come first."),
        .bytes(
            "memory", \.memory, in: (4 << 20)...(64 << 30), change: .reloads,
            """
            How much memory unfinished events may take; the worker consumes nothing more above it. Their outputs and the \
            Kafka clients take up to four times as much beside it.
            """),
        .integer(
            "max_event_bytes", \.maximumEventBytes, in: 1024...(64 << 20), change: .reloads,
            "Larger values are dead-lettered as event_too_large."),
        .duration(
            "shutdown_deadline", \.shutdownDeadline, in: .seconds(1)...(.seconds(600)),
            "How long a stop may take before the process ends without a goodbye."),
    ]

    static let batchSettings: [Setting<Self>] = [
        .integer(
            "events", \.readAheadEvents, in: 1...100_000, change: .reloads,
            """
            Events taken ahead, half of which make a batch. More are faster in a backlog where signatures are cheap, for some 10 to \
            20 kB of memory each.
            """),
        .duration(
            "linger", \.batchLinger, in: .milliseconds(1)...(.seconds(10)), change: .reloads,
            "How long a batch waits to fill at most: never longer than a commit takes."),
    ]
}
