package import WorkerConfiguration

/// A topic as Remint needs it.
package struct WantedTopic: Sendable, Equatable {
    /// What Remint uses a topic for.
    package enum Use: String, Sendable {
        case events
        case tokens
        case retries
        case control
        case deadLetters = "dead_letters"
        case parkedLetters = "parked_letters"
    }

    /// What an operator asks for, where the defaults will not do.
    package struct Wishes: Sendable {
        /// How many partitions each topic has but the control topic; nil for `standardPartitions` where one is created, and any
        /// number where it exists.
        package var partitions: Int?
        /// How many copies each partition has; nil for the cluster's default.
        package var replication: Int?

        package init(partitions: Int? = nil, replication: Int? = nil) {
            self.partitions = partitions
            self.replication = replication
        }
    }

    /// How many partitions a topic is created with where nobody says.
    package static let standardPartitions = 6

    /// The topic's name.
    package let name: String
    /// What it is for.
    package let use: Use
    /// How many partitions it is created with.
    package let partitions: Int
    /// How many it must have at least where it exists.
    package let fewestPartitions: Int
    /// How many copies each partition has; nil for the cluster's default.
    package let replication: Int?
    /// Its settings, in the order in which they are shown.
    package let settings: [TopicSetting]

    /// Every topic of `configuration`, inputs first, each once.
    package static func all(_ configuration: Configuration, _ wishes: Wishes = Wishes()) -> [WantedTopic] {
        let topics = configuration.topics
        let times = TopicTimes(configuration)
        func topic(_ name: String, _ use: Use, _ settings: [TopicSetting]) -> WantedTopic {
            WantedTopic(
                name: name, use: use, partitions: use == .control ? 1 : wishes.partitions ?? standardPartitions,
                fewestPartitions: use == .control ? 1 : wishes.partitions ?? 1, replication: wishes.replication,
                settings: settings + durability(wishes))
        }
        return [topics.invalidations, topics.invalidationsBulk].map { topic($0, .events, times.events) }
            + configuration.appTopics.map { topic($0, .events, times.events) }
            + configuration.retryTopics.map { topic($0, .retries, times.retries) }
            + [
                topic(topics.tokens, .tokens, times.tokens),
                topic(topics.deadLetters, .deadLetters, TopicTimes.deadLetters),
                topic(topics.parkedLetters, .parkedLetters, TopicTimes.parkedLetters),
                topic(topics.control, .control, TopicTimes.control),
            ]
    }

    /// What keeps acknowledged records through the loss of a broker; nothing where the cluster decides on copies.
    private static func durability(_ wishes: Wishes) -> [TopicSetting] {
        guard let replication = wishes.replication else { return [] }
        // With two copies of two, one broker that is away stops every writer.
        let copies = replication > 2 ? 2 : 1
        return [
            TopicSetting(
                ReplicationRules.minimumInSync, String(copies),
                [
                    TopicDemand(
                        .atLeast(Int64(copies)), .warning, "an acknowledged record may be in one place alone")
                ])
        ]
    }
}
