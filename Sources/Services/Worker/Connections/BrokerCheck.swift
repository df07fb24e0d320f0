import Formats
import Kafka
import Operations
import Pipeline
import Wiring
import WorkerConfiguration

/// The questions to the brokers. After a question without an answer, the check asks no more.
struct BrokerCheck {
    private let group: String
    private let properties: KafkaProperties
    private let limit: Duration
    private let eventTopics: [String]
    private let inputTopics: [String]
    /// The topics that the cluster lists, by name; nil before its first answer.
    private var topics: [String: TopicMetadata]?
    /// The settings of the topics of events, by topic; without those that this account may not see.
    private var settings: [String: [String: String]] = [:]

    init(_ configuration: Configuration, limit: Duration) {
        group = configuration.kafka.group
        eventTopics = configuration.eventTopics
        inputTopics = configuration.inputTopics
        properties = KafkaProperties(configuration, bootstrapServers: configuration.kafka.bootstrapServers)
        self.limit = limit
    }

    mutating func reach() async throws(ConnectionProblem) -> String {
        let (limit, eventTopics) = (limit, eventTopics)
        let (found, settings) = try await withProducer(properties.producer) { producer throws(KafkaError) in
            let found = try await producer.topics(within: limit)
            let present = eventTopics.filter { name in found.contains { $0.name == name && $0.partitionCount > 0 } }
            // A worker needs no permission to see them.
            return (found, (try? await producer.settings(of: present, within: min(limit, .seconds(2)))) ?? [:])
        }
        self.settings = settings
        topics = Dictionary(found.map { ($0.name, $0) }) { first, _ in first }
        return found.count.of("topic is", "topics are") + " shown"
    }

    func look(at name: String, isRead: Bool) async throws(ConnectionProblem) -> String {
        let topics = try answeredTopics()
        if let error = topics[name]?.error, error.code != .unknownTopicOrPartition { throw problem(error, nil) }
        guard let topic = topics[name], topic.partitionCount > 0 else {
            throw ConnectionProblem(
                "there is none, or this account may not see it; create it, rename it under topics, or allow DESCRIBE")
        }
        let first = inputTopics.lazy.compactMap { topics[$0] }.first { $0.partitionCount > 0 }
        let unlike = TopicPlan.unlike(topic.partitionCount, first.map { ($0.name, $0.partitionCount) })
        let doubts = [
            settings[name].flatMap { TopicSetting.unpacked.finding(in: $0) }, inputTopics.contains(name) ? unlike : nil,
        ].compactMap { $0.map { "; \($0.message)" } }.joined()
        return try await withReader { reader throws(KafkaError) in
            let end = ContinuousClock.now + limit
            var ends: [PartitionOffset] = []
            for number in 0..<topic.partitionCount {
                let partition = TopicPartition(topic: name, partition: Int32(clamping: number))
                let bounds = try await reader.bounds(of: partition, within: max(.zero, end - .now))
                ends.append(PartitionOffset(partition, offset: bounds.upperBound))
            }
            guard isRead else { return "\(ends.count.of("partition")); only a record shows whether it may be written" }
            _ = try await reader.metadata(of: name, within: max(.zero, end - .now))
            try await reader.scan(ends, within: max(.zero, end - .now)) { _ in false }
            return "\(ends.count.of("partition")), and it may be read\(doubts)"
        }
    }

    /// Reads the group's committed offsets, which only the group may do. A coordinator that has just begun is asked again.
    /// For the live lane, a group that no worker is in is joined with a worker's properties.
    func use(group: String, of topic: String) async throws(ConnectionProblem) -> String {
        _ = try answeredTopics()
        let limit = limit
        if group == self.group { try await join("\(group)-check", of: topic) }
        return try await withReader(group: group) { reader throws(KafkaError) in
            let end = ContinuousClock.now + limit
            while true {
                do throws(KafkaError) {
                    let partition = TopicPartition(topic: topic, partition: 0)
                    _ = try await reader.committed([partition], within: max(.zero, end - .now))
                    return "its coordinator answers"
                } catch {
                    guard error.code.isAboutNewCoordinator, .now < end else { throw error }
                    try? await Task.sleep(for: .milliseconds(200))
                }
            }
        }
    }

    /// Joins `group` until its coordinator accepts the member or refuses it.
    private func join(_ group: String, of topic: String) async throws(ConnectionProblem) {
        let consumer: KafkaConsumer
        do throws(KafkaError) {
            consumer = try KafkaConsumer(
                properties.consumer(of: .live).merging(["group.id": group]), topics: [topic],
                logger: ConnectionCheck.silence)
        } catch { throw problem(error, nil) }
        let end = ContinuousClock.now + limit
        try await consumer.whileOpen { consumer throws(ConnectionProblem) in
            while await !consumer.isMember {
                guard .now < end, !Task.isCancelled else {
                    throw problem(.overdue("joining the group \(group)"), await consumer.lastError)
                }
                for case .error(let error) in await consumer.events(limit: 100, within: .milliseconds(100))
                where error.isFatal || error.code.isJoinRefused || error.code == .groupAuthorizationFailed {
                    throw problem(error, nil)
                }
            }
        }
    }

    /// Registers a transactional id that no worker has: it begins with the group's name as theirs do, and ends otherwise.
    func register(_ id: String) async throws(ConnectionProblem) -> String {
        _ = try answeredTopics()
        let limit = limit
        return try await withProducer(properties.transactionalProducer(id: id)) { producer throws(KafkaError) in
            try await producer.initTransactions(within: limit)
            return "it can be registered"
        }
    }

    // MARK: Clients

    private func answeredTopics() throws(ConnectionProblem) -> [String: TopicMetadata] {
        guard let topics else { throw ConnectionProblem("not asked, for no broker answers") }
        return topics
    }

    private func withProducer<Answer>(
        _ properties: ClientProperties, _ ask: (KafkaProducer) async throws(KafkaError) -> Answer
    ) async throws(ConnectionProblem) -> Answer {
        let producer: KafkaProducer
        do throws(KafkaError) { producer = try KafkaProducer(properties, logger: ConnectionCheck.silence) } catch {
            throw problem(error, nil)
        }
        return try await producer.whileOpen(closingWithin: .zero) { producer throws(ConnectionProblem) in
            do throws(KafkaError) { return try await ask(producer) } catch { throw problem(error, producer.lastError) }
        }
    }

    /// - Parameter group: the consumer's; by default one that is no worker's.
    private func withReader<Answer>(
        group: String? = nil, _ ask: (KafkaConsumer) async throws(KafkaError) -> Answer
    ) async throws(ConnectionProblem) -> Answer {
        let reader: KafkaConsumer
        do throws(KafkaError) {
            reader = try KafkaConsumer(
                properties.reader(group: group ?? "\(self.group)-check"), reading: [], logger: ConnectionCheck.silence)
        } catch { throw problem(error, nil) }
        return try await reader.whileOpen { reader throws(ConnectionProblem) in
            do throws(KafkaError) { return try await ask(reader) } catch {
                // The client's errors are among its events.
                _ = await reader.events(limit: 100, within: .zero)
                throw problem(error, await reader.lastError)
            }
        }
    }

    private func problem(_ error: KafkaError, _ reason: KafkaError?) -> ConnectionProblem {
        // A timeout explains less than the errors that the client reported meanwhile.
        let cause = error.code.isSilence ? reason ?? error : error
        return ConnectionProblem("\(cause); \(cause.code.remedy(group: group))")
    }
}

extension KafkaError.Code {
    /// Whether the error only means that no broker answered.
    var isSilence: Bool { [.transport, .timedOut, .allBrokersDown].contains(self) }

    /// Returns the fix for this error of a client in `group`.
    func remedy(group: String) -> String {
        switch self {
        case .transport, .timedOut, .allBrokersDown, .unknownHost:
            "correct kafka.bootstrap_servers, let this machine reach every broker's advertised address, and set kafka.properties.security.protocol as the brokers want it"
        case .tls:
            "trust the brokers' authority with kafka.properties.ssl.ca.location, and use the names of their certificates"
        case .authentication, .saslAuthenticationFailed:
            "correct sasl.mechanism and the credentials under kafka.properties"
        case .topicAuthorizationFailed: "allow this account DESCRIBE and READ, or WRITE, on the topic"
        case .groupAuthorizationFailed: "allow this account READ on groups that begin with \(group)"
        case .transactionalIDAuthorizationFailed:
            "allow this account WRITE on transactional ids that begin with \(group)-"
        case .invalidSessionTimeout:
            "set kafka.properties.session.timeout.ms within the brokers' group.min.session.timeout.ms and group.max.session.timeout.ms"
        case .inconsistentProtocol:
            "give all members of the group the same partition.assignment.strategy, and end those that are no workers"
        case .groupIsFull: "raise the brokers' group.max.size"
        case .invalidTransactionTimeout:
            "set kafka.properties.transaction.timeout.ms to at most the brokers' transaction.max.timeout.ms, or raise that"
        case .clusterAuthorizationFailed: "allow this account IDEMPOTENT_WRITE on the cluster"
        default: "the brokers' logs have the cause"
        }
    }
}
