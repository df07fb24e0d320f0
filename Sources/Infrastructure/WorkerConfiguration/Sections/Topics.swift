import YAMLReading
import Yams

extension Configuration {
    /// The topics' names.
    public struct Topics: Sendable, WithDefaults {
        package var invalidations = "remint.invalidations"
        package var invalidationsBulk = "remint.invalidations.bulk"
        package var tokens = "remint.tokens"
        package var deadLetters = "remint.dead-letters"
        /// The prefix of the retry tiers' topic names; a dot and the tier follow.
        package var retries = "remint.retries"
        /// The topic of the suspensions and pauses of apps and lanes, for every worker; compacted.
        package var control = "remint.control"

        /// The parked dead letters, and the marks of those that were dealt with.
        package var parkedLetters: String { "\(deadLetters).parked" }
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

    // MARK: Reading

    /// Reads the section into `configuration`, whose tiers and apps are already known: the tiers are part of topics' names.
    static func read(_ section: Section, into configuration: inout Configuration) {
        var names: [(topics: [String], node: Node)] = []
        section.read(settings, into: &configuration.topics)
        for key in settings {
            guard let node = section.value(of: key), let text = node.scalar?.string, !text.isEmpty else { continue }
            let isPrefix = key.name == retries.name
            names.append((isPrefix ? configuration.retryTopics : [text], node))
        }
        let all = configuration.allTopics + [configuration.topics.control, configuration.topics.parkedLetters]
        for (topics, node) in names {
            if !topics.allSatisfy(TopicName.isValid) {
                section.diagnostics.error(
                    node, "a topic's name has up to 249 letters, digits, dots, underscores and hyphens")
            }
            if let shared = topics.first(where: { topic in all.count { $0 == topic } > 1 }) {
                section.diagnostics.error(
                    node,
                    "two topics share the name \(section.diagnostics.quote(shared, node)); the worker would feed itself: give each its own"
                )
            }
        }
        checkAppTopics(configuration, section.diagnostics)
        section.finish()
    }

    /// Requires that an app's own topics are none of the worker's; otherwise the worker would consume its own output.
    private static func checkAppTopics(_ configuration: Configuration, _ diagnostics: Diagnostics) {
        let own = configuration.topics
        let taken = Set(
            [own.invalidations, own.invalidationsBulk, own.tokens, own.deadLetters, own.parkedLetters, own.control]
                + configuration.retryTopics)
        for app in configuration.apps where app.topics.contains(where: taken.contains) {
            diagnostics.error(
                at: app.keyPlace, "apps.\(app.name).topics names a topic of the worker's own; choose other ones")
        }
    }
}

/// The rules of Kafka for a topic's name.
enum TopicName {
    /// Returns whether `name` has up to 249 letters, digits, dots, underscores and hyphens, and is not a path's `.` or
    /// `..`.
    static func isValid(_ name: String) -> Bool {
        ![".", ".."].contains(name) && 1...249 ~= name.utf8.count
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }
}
