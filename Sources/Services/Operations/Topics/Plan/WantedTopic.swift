package import WorkerConfiguration

/// A topic as Remint needs it.
package struct WantedTopic: Sendable, Equatable {
    /// Remint's use of a topic.
    package enum Use: String, Sendable {
        case events
        case tokens
        case retries
        case control
        case deadLetters = "dead_letters"
        case parkedLetters = "parked_letters"
    }

    /// The operator's choices in place of the defaults.
    package struct Wishes: Sendable {
        /// The number of partitions of each topic but the control topic; nil for `standardPartitions` where a topic is
        /// created, and for any number where it exists.
        package var partitions: Int?
        /// The number of replicas of each partition; nil for the cluster's default.
        package var replication: Int?

        package init(partitions: Int? = nil, replication: Int? = nil) {
            self.partitions = partitions
            self.replication = replication
        }
    }

    /// The number of partitions of a new topic where the operator names none.
    package static let standardPartitions = 6

    /// The topic's name.
    package let name: String
    /// The topic's use.
    package let use: Use
    /// The number of partitions with which the topic is created.
    package let partitions: Int
    /// The minimum number of partitions of an existing topic.
    package let fewestPartitions: Int
    /// The number of replicas of each partition; nil for the cluster's default.
    package let replication: Int?
    /// The topic's settings, in the order in which they are shown.
    package let settings: [TopicSetting]

    /// Returns every topic of `configuration`, inputs first, each once.
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

    /// Returns the settings that keep acknowledged records through the loss of a broker; empty where the cluster
    /// decides on replicas.
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
