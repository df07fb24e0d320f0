package import BrokerTokens
import Formats
import Glibc
import JOSE
package import Kafka
package import Pipeline
package import WorkerConfiguration

/// librdkafka's properties for this worker: required by its guarantees, set by the configuration, or default.
package struct KafkaProperties: Sendable {
    private let consumer: ClientProperties
    private let group: String
    /// The producer's, without a transactional id.
    package let producer: ClientProperties
    private let transactionTimeout: Int
    private let liveDefaults: ClientProperties

    package init(_ configuration: Configuration, bootstrapServers: String) {
        var configured = ClientProperties()
        for property in configuration.kafka.properties { configured[property.name] = property.value }
        let embedded = configuration.kafka.isEmbedded ? EmbeddedBroker.clientProperties : [:]
        var common: ClientProperties = [
            "client.id": "remint", "socket.nagle.disable": "true", "reconnect.backoff.max.ms": "2000",
            // New partitions are read, and written to, this soon; the library's default is five minutes.
            "topic.metadata.refresh.interval.ms": "15000", "metadata.max.age.ms": "30000",
        ]
        if let tokens = configuration.kafka.tokens {
            common["sasl.mechanism"] = "OAUTHBEARER"
            common.tokens = tokens.provider
        }
        let address: ClientProperties = ["bootstrap.servers": bootstrapServers]
        let session = configured["session.timeout.ms"].flatMap { Int($0) } ?? Self.sessionTimeout
        // A coordinator that forgot a member's session waits for it for as long as this: five minutes by the library's
        // default, in which the whole group stands still. The loop shows signs of life many times a second.
        let pollInterval: ClientProperties = ["max.poll.interval.ms": String(max(60_000, session))]
        // The library unpacks a whole answer at once, and gzip packs a thousand bytes in one. It makes no consumer that fetches less
        // than `message.max.bytes`.
        let largest = configured["message.max.bytes"].flatMap { Int($0) } ?? 0
        let fetch: ClientProperties = ["fetch.max.bytes": String(max(1 << 20, largest))]
        consumer = common.merging(Self.consumerDefaults).merging(fetch).merging(pollInterval).merging(embedded).merging(
            configured
        )
        .merging(address).merging(
            [
                "enable.auto.commit": "false", "enable.auto.offset.store": "false",
                "isolation.level": "read_committed", "partition.assignment.strategy": "range",
                // Where a partition is read from is decided by `PartitionStart`.
                "auto.offset.reset": "error",
            ])
        producer = common.merging(Self.producerDefaults).merging(configured).merging(address).merging([
            "enable.idempotence": "true"
        ])
        group = configuration.kafka.group
        var live = ClientProperties()
        for (name, value) in Self.liveDefaults where embedded[name] == nil && configured[name] == nil {
            live[name] = value
        }
        liveDefaults = live
        transactionTimeout = Self.transactionTimeout(consumer, configured)
    }

    /// Returns the properties of a lane's consumer. Each lane has a group of its own, so that one never waits for
    /// another's rebalance: the configured one for live, and the same name with `-retries` or `-bulk` for the others.
    package func consumer(of lane: Lane) -> ClientProperties {
        consumer.merging(["group.id": group(of: lane)])
    }

    /// Returns the properties of the worker's consumer of a lane, a member of the lane's group.
    ///
    /// - Parameters:
    ///   - topics: The topics that it consumes.
    ///   - place: The worker's name, which its next process gets too; nil where that gets another one.
    package func member(of lane: Lane, topics: [String], place: String?) -> ClientProperties {
        // The end of a partition is where the offset behind the last transaction's mark is known.
        var member = consumer(of: lane).merging(["enable.partition.eof": "true"])
        if lane == .live { member = member.merging(liveDefaults) }
        guard let place else { return member }
        return member.merging(["group.instance.id": Self.memberName(place, lane, topics)])
    }

    /// Returns the name by which a group knows a static member. It depends on the topics: a group gives a static member that comes
    /// back what it had before, and would never look at topics that were added meanwhile.
    private static func memberName(_ place: String, _ lane: Lane, _ topics: [String]) -> String {
        let subscription = [place, lane.rawValue] + topics.sorted()
        let hash = SHA256.hash(Array(subscription.joined(separator: "\n").utf8)).prefix(4)
        let digits = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        // The letters that brokers take, as in a topic's name; the hash distinguishes names that become the same.
        let letters = place.unicodeScalars.map {
            $0.isASCII && $0.properties.isAlphabetic || ("0"..."9").contains($0) || "._-".unicodeScalars.contains($0)
                ? Character($0) : "_"
        }
        return "\(String(letters.prefix(200)))-\(lane.rawValue)-\(digits)"
    }

    var clientID: String { consumer["client.id"] ?? "" }

    package func group(of lane: Lane) -> String { lane == .live ? group : "\(group)-\(lane.rawValue)" }

    /// Returns the properties of a reader that belongs to none of the worker's groups.
    package func reader(group: String) -> ClientProperties {
        // A reader reads all that a topic holds, so that whatever it missed is the beginning.
        // A fetch that comes back empty shows the end of a partition, and somebody waits for it.
        consumer.merging([
            "group.id": group, "auto.offset.reset": "earliest", "enable.partition.eof": "true",
            "fetch.wait.max.ms": "10",
        ])
    }

    /// The properties of a worker's producer, whose statistics show the brokers' quotas.
    package var workerProducer: ClientProperties { producer.withDefaults(["statistics.interval.ms": "1000"]) }

    /// The time after which the brokers abort a transaction.
    package var transactionLimit: Duration { .milliseconds(transactionTimeout) }

    package func transactionalProducer(id: String) -> ClientProperties {
        // librdkafka wants no timeout of the producer's to be longer than the transaction's. A record is given up before the brokers
        // give up its transaction, which would fence the worker; the library looks once a second.
        let limit = String(transactionTimeout)
        return workerProducer.merging([
            "transactional.id": id, "transaction.timeout.ms": limit,
            "message.timeout.ms": String(transactionTimeout * 3 / 4), "socket.timeout.ms": limit,
        ])
    }

    /// The time after which a group hands on the partitions of a member that shows no sign of life.
    private static let sessionTimeout = 10_000

    /// The time after which the groups hand on the partitions of a worker that shows no sign of life.
    package var sessionLength: Duration {
        .milliseconds(consumer["session.timeout.ms"].flatMap { Int($0) } ?? Self.sessionTimeout)
    }

    /// Returns the transaction timeout, well below the session's: a transaction that hangs must be aborted before the
    /// group assigns its partitions to another worker. Brokers look for such transactions every ten seconds by their default, and
    /// readers of committed records wait until then: less than 15 seconds in all.
    private static func transactionTimeout(_ consumer: ClientProperties, _ configured: ClientProperties) -> Int {
        let session = consumer["session.timeout.ms"].flatMap { Int($0) } ?? sessionTimeout
        let wanted = configured["transaction.timeout.ms"].flatMap { Int($0) } ?? 4000
        return max(1000, min(wanted, session / 2))
    }

    private static let consumerDefaults: ClientProperties = [
        "session.timeout.ms": String(sessionTimeout),
        // Members learn of a rebalance by their heartbeats, and until all have learned of it none of them consumes.
        "heartbeat.interval.ms": "300",
        // Three consumers fetch ahead of one worker; what waits here waits for the signer anyway. A record that is larger
        // comes alone.
        "queued.max.messages.kbytes": "8192", "queued.min.messages": "5000", "max.partition.fetch.bytes": "262144",
        // The largest answer, and the most that a zstd batch may unpack to: enough for every record that the producer accepts. The
        // library does not bound what gzip, lz4 and snappy unpack to.
        "receive.message.max.bytes": "68157440",
    ]

    /// Live events wait for the slowest member of a rebalance, and then for the last question about partitions without records: a broker
    /// answers one question of a connection after the other. For the other lanes the brokers need not be asked so often.
    private static let liveDefaults = [
        "heartbeat.interval.ms": "100", "fetch.wait.max.ms": "250",
    ]

    /// The producer accepts records of any size that a topic may allow, because a dead letter is as large as its event;
    /// the broker decides. A record that waited for half a minute is returned, so that the worker can report the
    /// problem and try again.
    private static let producerDefaults: ClientProperties = [
        "message.max.bytes": "67108864", "message.timeout.ms": "30000", "partitioner": "murmur2_random",
        "linger.ms": "1",
    ]

    /// Returns librdkafka's errors in the configured properties, with their places: in each property alone, and in all
    /// together.
    ///
    /// - Parameter withClients: Whether to make clients, to see whether they can be made.
    package static func diagnostics(for configuration: Configuration, withClients: Bool = true) -> [Diagnostic] {
        let properties = configuration.kafka.properties
        let single = properties.flatMap { property in
            let single: ClientProperties = [property.name: property.value]
            return single.problems().map {
                Diagnostic(.error, at: property.place, "the property \($0.name) \($0.message)")
            }
        }
        let found = single + contradictions(in: configuration.kafka)
        guard withClients, found.isEmpty, !properties.isEmpty, !configuration.kafka.isEmbedded else { return found }
        return KafkaProperties(configuration, bootstrapServers: configuration.kafka.bootstrapServers)
            .refusals(configuration).map { refusal in
                // The property that librdkafka names, if it names one of them; otherwise the first one.
                let meant = properties.first { refusal.contains($0.name) } ?? properties[0]
                return Diagnostic(.error, at: meant.place, "no Kafka client can be made: \(refusal)")
            }
    }

    /// Returns the errors in properties that librdkafka accepts, or refuses in words about something else.
    private static func contradictions(in kafka: Configuration.Kafka) -> [Diagnostic] {
        func last(_ names: String...) -> Configuration.Property? { kafka.properties.last { names.contains($0.name) } }
        var found: [Diagnostic] = []
        let session = last("session.timeout.ms").flatMap { Int($0.value) } ?? sessionTimeout
        if let heartbeat = last("heartbeat.interval.ms"), let interval = Int(heartbeat.value), interval > session / 3 {
            found.append(
                Diagnostic(
                    .error, at: heartbeat.place,
                    "heartbeat.interval.ms must be at most a third of session.timeout.ms, \(session / 3): one heartbeat that is late would cost a worker its partitions"
                ))
        }
        // Without a mechanism, librdkafka takes Kerberos.
        if let scheme = last("security.protocol"), scheme.value.lowercased().hasPrefix("sasl_"), kafka.oauth == nil,
            last("sasl.mechanism", "sasl.mechanisms") == nil,
            !kafka.properties.contains(where: { $0.name.hasPrefix("sasl.kerberos.") })
        {
            found.append(
                Diagnostic(
                    .error, at: scheme.place,
                    "security.protocol needs sasl.mechanism; write the brokers' one, such as SCRAM-SHA-512 (for Kerberos: GSSAPI)"
                ))
        }
        return found
    }

    /// Returns the reasons why the worker's clients cannot be made, each once.
    private func refusals(_ configuration: Configuration) -> [String] {
        let producer = configuration.delivery == .exactlyOnce ? transactionalProducer(id: "\(group)-check") : producer
        var found = [producer.refusal(of: .producer), consumer(of: .live).refusal(of: .consumer)].compactMap { $0 }
        let mechanism = consumer["sasl.mechanism"] ?? consumer["sasl.mechanisms"] ?? ""
        if mechanism.uppercased() == "OAUTHBEARER", consumer["enable.sasl.oauthbearer.unsecure.jwt"] != "true",
            configuration.kafka.oauth == nil
        {
            found.append("sasl.mechanism is OAUTHBEARER, and there is no source of tokens; name one under kafka.oauth")
        }
        return Array(Set(found)).sorted()
    }
}

extension KafkaProperties {
    /// Returns the members of a lane's group that are no workers, such as a consumer for debugging: the group gives them
    /// partitions, and nobody answers the events there.
    ///
    /// A worker has this one's client id, or the name of a static member, which ends in the lane and a hash.
    package func strangers(among members: [ConsumerGroup.Member], of lane: Lane) -> [ConsumerGroup.Member] {
        members.filter { $0.clientID != clientID && !Self.isStatic($0.id, lane) }
    }

    /// Returns whether `id` is the id of a static member of `lane`: its name, and a UUID of the group's.
    private static func isStatic(_ id: String, _ lane: Lane) -> Bool {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 8 else { return false }
        let hash = parts[parts.count - 6]
        return parts[parts.count - 7] == lane.rawValue && hash.utf8.count == 8 && hash.allSatisfy(\.isHexDigit)
    }
}

extension ConsumerGroup.Member {
    /// The member that is no worker, for people.
    package func strangerText(in group: String) -> String {
        let count = partitions.count.of("partition")
        return
            "the group \(group) has a member that is no worker, \(id.prefix(80)) at \(host), with \(count): end it, and read the topic with another group"
    }
}

extension Configuration.Kafka {
    /// The source of the brokers' tokens for this process' clients; nil if they need none.
    package var tokens: SharedTokenProviders.Entry? {
        guard let oauth, !isEmbedded else { return nil }
        return SharedTokenProviders.entry(for: oauth) { name in getenv(name).map { String(cString: $0) } }
    }
}
