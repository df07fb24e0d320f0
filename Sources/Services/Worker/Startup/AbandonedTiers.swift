import Kafka
import Logging
import Pipeline
import Wiring
import WorkerConfiguration

/// Retry topics that the configuration names no longer and that still hold events nobody has read.
///
/// A tier that is taken out of `worker.retries.tiers` is read by nobody: its events would end without an outcome.
struct AbandonedTiers {
    private static let timeout = Duration.seconds(15)

    let configuration: Configuration
    let properties: KafkaProperties
    let logger: Logger

    /// Returns the topics with unread events, in the order of their names.
    ///
    /// - Parameter producer: asked for the cluster's topics; another client is made for each topic where there is something to read.
    /// - Throws: `KafkaError` where no broker answers.
    func find(asking producer: KafkaProducer) async throws(KafkaError) -> [String] {
        var found: [String] = []
        for topic in Self.candidates(try await producer.topicNames(within: Self.timeout), configuration) {
            do throws(KafkaError) { if try await hasUnread(topic) { found.append(topic) } } catch {
                // Somebody deleted the topic during the look: the next look does not list it.
                guard Self.isGone(error) else { throw error }
                found.append(topic)
            }
        }
        return found
    }

    private static func isGone(_ error: KafkaError) -> Bool {
        [.unknownTopicOrPartition, .unknownTopic, .unknownPartition].contains(error.code)
    }

    /// Returns whether `topic` has unread records. Each topic has a reader of its own, because a reader reads its
    /// assignment once.
    private func hasUnread(_ topic: String) async throws(KafkaError) -> Bool {
        let reader = try KafkaConsumer(
            properties.reader(group: properties.consumer(of: .retries)["group.id"] ?? ""), reading: [], logger: logger)
        return try await reader.whileOpen { reader throws(KafkaError) in try await hasUnread(topic, reader) }
    }

    /// Returns the topics that have a tier's name and belong to no tier of the configuration.
    static func candidates(_ topics: [String], _ configuration: Configuration) -> [String] {
        let prefix = "\(configuration.topics.retries)."
        return topics.filter { topic in
            topic.hasPrefix(prefix) && !configuration.allTopics.contains(topic)
                && DurationText.parse(String(topic.dropFirst(prefix.count))) != nil
        }.sorted()
    }

    /// Returns whether there is a record behind the offsets that the retries' group has committed. Offsets alone cannot
    /// show it, because a transaction leaves marks at a partition's end that are no records.
    private func hasUnread(_ topic: String, _ reader: KafkaConsumer) async throws(KafkaError) -> Bool {
        let count = try await reader.metadata(of: topic, within: Self.timeout).partitionCount
        let partitions = (0..<count).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
        let committed = try await reader.committed(partitions, within: Self.timeout)
        var open: [PartitionOffset] = []
        for partition in partitions {
            let bounds = try await reader.bounds(of: partition, within: Self.timeout)
            let next = max(committed[partition] ?? bounds.lowerBound, bounds.lowerBound)
            if next < bounds.upperBound { open.append(PartitionOffset(partition, offset: next)) }
        }
        guard !open.isEmpty else { return false }
        var isUnread = false
        do throws(KafkaError) {
            try await reader.scan(open, within: Self.timeout) { _ in
                isUnread = true
                return false
            }
            // A topic that cannot be read in time may hold events.
        } catch { return true }
        return isUnread
    }
}
