extension Configuration {
    /// The topics' names.
    public struct Topics: Sendable, WithDefaults {
        /// Events of the live lane.
        public var invalidations = "remint.invalidations"
        /// Events of the bulk lane.
        public var invalidationsBulk = "remint.invalidations.bulk"
        /// The token topic.
        public var tokens = "remint.tokens"
        /// The dead letters.
        public var deadLetters = "remint.dead-letters"
        /// The prefix of the retry tiers' topic names; a dot and the tier follow.
        public var retries = "remint.retries"
        /// The topic of the suspensions and pauses of apps and lanes, for every worker; compacted.
        public var control = "remint.control"

        /// The parked dead letters, and the marks of those that were dealt with.
        public var parkedLetters: String { "\(deadLetters).parked" }

        /// Every default.
        public init() {}
    }
}

extension Configuration.Topics {
    static let section = SectionDescription(
        "topics", "Names of the topics. Set only the names that differ from the defaults.",
        keys: settings.map(\.description))

    /// The setting whose value is a prefix of topics' names, and no topic's name.
    static let retries: Setting<Self> = .text(
        "retries", \.retries, form: .topic,
        "Prefix of the names of the retry tiers' topics: remint.retries.10s, remint.retries.1m, …")

    static let settings: [Setting<Self>] = [
        .text("invalidations", \.invalidations, form: .topic, "Topic with the events of the live lane."),
        .text(
            "invalidations_bulk", \.invalidationsBulk, form: .topic,
            "Topic with the events of the bulk lane: those of re-issue jobs and campaigns."),
        .text(
            "tokens", \.tokens, form: .topic,
            "Token topic, with the latest token of each subject. The topic is compacted."),
        .text(
            "dead_letters", \.deadLetters, form: .topic,
            "Topic with the dead letters: events that no token could answer, byte for byte, each with a code."),
        retries,
        .text(
            "control", \.control, form: .topic,
            """
            Control topic, with the suspensions and pauses of apps and lanes for every worker. The topic is compacted \
            and has one partition.
            """),
    ]
}
