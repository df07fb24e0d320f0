/// The whole configuration of a worker: `remint.yaml`, read and checked.
public struct Configuration: Sendable {
    /// The delivery guarantee of each event.
    public enum Delivery: String, Sendable, CaseIterable {
        /// Offsets are committed once everything is delivered; after a crash an event may be answered twice.
        case atLeastOnce = "at_least_once"
        /// Token and offset commit together.
        case exactlyOnce = "exactly_once"
    }

    package var kafka = Kafka()
    package var delivery = Delivery.exactlyOnce
    package var topics = Topics()
    package var keys: [Key] = []
    package var apps: [App] = []
    /// The worker's batches, limits, retries and look-ups.
    package var worker = Worker()
    /// The admin server; nil for none.
    package var admin: Admin?
    /// The gateway that devices call; nil for none.
    package var pickup: Pickup?
    package var log = Log()
    /// The traces and metrics that the worker sends to a collector.
    package var telemetry = Telemetry()

    /// The topics of the retry tiers, shortest first.
    package var retryTopics: [String] { worker.retries.tiers.map { "\(topics.retries).\($0.name)" } }
    /// The topics that belong to single apps, in the order of the file.
    package var appTopics: [String] {
        var seen: Set<String> = []
        return apps.flatMap(\.topics).filter { seen.insert($0).inserted }
    }
    /// Every topic that events are written to from outside: the shared one, the operators' and the apps' own. A redrive writes to
    /// no other.
    package var eventTopics: [String] { [topics.invalidations, topics.invalidationsBulk] + appTopics }
    /// Every topic the worker consumes.
    package var inputTopics: [String] { eventTopics + retryTopics }
    /// Every topic the worker produces to.
    package var outputTopics: [String] { [topics.tokens, topics.deadLetters] + retryTopics }
    /// Every topic the worker needs.
    package var allTopics: [String] { eventTopics + outputTopics }

    package init() {}

    /// The file's values of the keys, for a comparison with another reading.
    var written = WrittenKeys()
}

extension Configuration {
    /// Every key there is, section by section, in the order of the documentation.
    package static let sections: [SectionDescription] = [
        Kafka.section, SectionDescription("", "", keys: [deliveryKey.description]), Topics.section, Key.section,
        App.section,
        Worker.section, Admin.section, Pickup.section, Log.section, Telemetry.section, Tests.section,
    ]

    static let deliveryKey = FileKey.choice(
        "delivery", standard: Configuration().delivery,
        """
        Delivery guarantee. exactly_once: the worker commits tokens, dead letters, retries and the offsets of their \
        events in one Kafka transaction (brokers 2.5 or later). at_least_once: the worker commits the offsets after \
        the delivery of all outputs, so a crash may give an event a second token. The embedded broker supports only \
        at_least_once; this is then the default.
        """)
}
