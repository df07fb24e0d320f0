import AdapterKit
import Kafka
import Pipeline
import ServiceLifecycle
import Wiring

/// The questions to the brokers on which the starts of assigned partitions depend. They are asked in the background, so that the other
/// lanes go on.
struct StartLookup: Sendable {
    struct Answers: Sendable {
        var committed: [PartitionOffset] = []
        var views: [TopicPartition: PartitionLogs.View] = [:]
        /// The highest version on the token topic; nil where none is known.
        var floor: Int64?
    }

    enum Finding: Sendable {
        /// The answers; nil where the group moved on meanwhile or the worker stops, so that nothing is read.
        case answers(Answers?)
        case failed(KafkaError)
    }

    /// The time that a session may take to learn where its partitions begin. A predecessor's transaction hides its offsets for up to
    /// 15 seconds.
    private static let timeout = Duration.seconds(45)

    let lane: Lane
    let consumer: KafkaConsumer
    let logs: PartitionLogs
    /// Returns the highest version on the token topic, which others may have written.
    let versions: @Sendable () async -> Int64?
    let context: SessionContext

    /// Asks about `partitions` until the brokers answer.
    func run(_ partitions: [TopicPartition]) async -> Finding {
        // All at once, because the partitions wait meanwhile.
        async let floor = versions()
        let end = ContinuousClock.now + Self.timeout
        while true {
            do throws(KafkaError) {
                var answers = try await ask(partitions)
                answers.floor = await floor
                return .answers(answers)
            } catch {
                if await consumer.isAssignmentLost || Task.isShuttingDownGracefully || Task.isCancelled {
                    return .answers(nil)
                }
                guard !error.isFatal, .now < end, !context.requests.isRenewalWanted else { return .failed(error) }
                context.observer.startsUnknown(lane, error)
            }
            try? await Task.sleep(for: .milliseconds(250))
        }
    }

    private func ask(_ partitions: [TopicPartition]) async throws(KafkaError) -> Answers {
        let committed = try await consumer.committedOffsets(partitions, within: PartitionLogs.timeout)
        return Answers(committed: committed, views: try await logs.views(of: partitions, asking: consumer))
    }
}

/// The offsets that this process committed, to notice a group that forgot them.
///
/// A partition that returns at a lower offset was reset by an operator, or by a broker that lost commits. Either way
/// events are answered twice, and the worker must report it.
struct CommittedOffsets {
    /// A partition that begins before its committed offset.
    struct OffsetRegression: Equatable {
        let partition: TopicPartition
        let committed: Int64
        let offset: Int64
    }

    /// The next record to read, and the log that it belongs to.
    private struct Commit {
        var next: Int64
        var mark: LogMark?
        var at: UnixTime
    }

    private var commits: [TopicPartition: Commit] = [:]
    private var expected: Set<TopicPartition> = []

    /// Notes that `offsets` were committed at `time`, each the next record to read, of logs that began with `marks`.
    mutating func committed(
        _ offsets: [TopicPartition: Int64], _ marks: [TopicPartition: LogMark] = [:], at time: UnixTime
    ) {
        for (partition, offset) in offsets {
            let next = max(commits[partition]?.next ?? offset, offset)
            commits[partition] = Commit(next: next, mark: marks[partition], at: time)
        }
    }

    /// Returns the state of `partition` when this process last had it.
    ///
    /// - Parameters:
    ///   - mark: its log's first record, where that was seen later than committed.
    ///   - time: until when.
    func former(_ partition: TopicPartition, _ mark: LogMark?, seenUntil time: UnixTime?) -> PartitionStart.Former? {
        let commit = commits[partition]
        guard commit != nil || mark != nil else { return nil }
        return PartitionStart.Former(
            committed: commit?.next, mark: mark ?? commit?.mark,
            seenUntil: mark == nil ? commit?.at : time ?? commit?.at)
    }

    /// Notes that `partitions` are assigned, so that the first record of each is checked.
    mutating func assigned(_ partitions: some Sequence<TopicPartition>) {
        expected.formUnion(partitions)
    }

    /// Forgets the commits of `partition`, whose log is another one or ends earlier.
    mutating func forget(_ partition: TopicPartition) { commits[partition] = nil }

    /// Returns the partitions among `records`, taken in order, that begin before their committed offset.
    mutating func regressions(in records: [InputRecord]) -> [OffsetRegression] {
        guard !expected.isEmpty else { return [] }
        return records.compactMap { record in
            let partition = TopicPartition(record.origin)
            guard expected.remove(partition) != nil, let committed = commits[partition]?.next else { return nil }
            guard record.origin.offset < committed else { return nil }
            commits[partition]?.next = record.origin.offset
            return OffsetRegression(partition: partition, committed: committed, offset: record.origin.offset)
        }
    }
}
