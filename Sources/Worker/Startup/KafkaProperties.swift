public import Kafka
public import WorkerConfiguration

/// librdkafka's properties for this worker: what its guarantees need, what the configuration says, sensible defaults.
public struct KafkaProperties: Sendable {
    /// The consumer's.
    public let consumer: ClientProperties
    /// The producer's.
    public let producer: ClientProperties

    /// The properties for `configuration`, with brokers at `bootstrapServers`.
    public init(_ configuration: Configuration, bootstrapServers: String) {
        var configured = ClientProperties()
        for property in configuration.kafka.properties { configured[property.name] = property.value }
        let embedded = configuration.kafka.isEmbedded ? EmbeddedBroker.clientProperties : [:]
        let common: ClientProperties = ["client.id": "remint", "socket.nagle.disable": "true"]
        let address: ClientProperties = ["bootstrap.servers": bootstrapServers]
        consumer = common.merging(Self.consumerDefaults).merging(embedded).merging(configured).merging(address).merging(
            [
                "group.id": configuration.kafka.group, "enable.auto.commit": "false",
                "enable.auto.offset.store": "false",
                "isolation.level": "read_committed", "partition.assignment.strategy": "range",
            ])
        producer = common.merging(Self.producerDefaults).merging(configured).merging(address).merging([
            "enable.idempotence": "true"
        ])
    }

    private static let consumerDefaults: ClientProperties = [
        "auto.offset.reset": "earliest", "session.timeout.ms": "45000",
    ]

    /// A dead letter is as large as what came in, so the producer takes whatever a topic may; the broker has the last word.
    /// A record that waited half a minute is handed back, so that the worker can say what is wrong and try again.
    private static let producerDefaults: ClientProperties = [
        "message.max.bytes": "67108864", "message.timeout.ms": "30000", "partitioner": "murmur2_random",
        "linger.ms": "1",
    ]

    /// What librdkafka says of the configured properties, with their places.
    public static func diagnostics(for configuration: Configuration) -> [Diagnostic] {
        configuration.kafka.properties.flatMap { property in
            let single: ClientProperties = [property.name: property.value]
            return single.problems().map {
                Diagnostic(.error, at: property.place, "the property \($0.name) \($0.message)")
            }
        }
    }
}
