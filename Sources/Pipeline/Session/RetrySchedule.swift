import AdapterKit
import DequeModule

/// Records of the retry tiers that were taken and wait for their moment, by partition, in order.
///
/// A partition's records leave in the order of their offsets, for nothing may be committed past one that is not finished;
/// within a tier that is nearly the order of their moments.
struct RetrySchedule: Sendable {

    private struct Waiting: Sendable {
        let record: InputRecord
        let due: UnixTime
    }

    /// How many records of a partition wait here before it is paused, and how few before it goes on.
    private static let bounds = (pause: 500, resume: 100)

    private let policy: RetryPolicy
    /// How many bytes may wait here before nothing more is fetched.
    var limit: Int
    /// How many bytes wait.
    private(set) var memory = 0
    private var partitions: [TopicPartition: Deque<Waiting>] = [:]
    private var paused: Set<TopicPartition> = []

    init(_ policy: RetryPolicy, memory limit: Int = .max) {
        self.policy = policy
        self.limit = limit
    }

    var count: Int { partitions.values.reduce(0) { $0 + $1.count } }

    mutating func append(_ record: InputRecord, at now: UnixTime) {
        memory += record.memory
        partitions[TopicPartition(record.origin), default: []].append(
            Waiting(record: record, due: policy.dueTime(of: record, takenAt: now)))
    }

    /// Puts records back that were taken out, before what waits. Their moment has come already.
    mutating func putBack(_ records: [InputRecord]) {
        for record in records.reversed() {
            memory += record.memory
            partitions[TopicPartition(record.origin), default: []].prepend(
                Waiting(record: record, due: UnixTime(microseconds: .min)))
        }
    }

    /// How many records may be taken now, counted up to `limit`.
    func dueCount(at now: UnixTime, limit: Int) -> Int {
        var count = 0
        for waiting in partitions.values {
            for entry in waiting {
                guard entry.due <= now, count < limit else { break }
                count += 1
            }
        }
        return count
    }

    /// Takes up to `limit` records whose moment has come, of the partition that is most overdue first: a busy one must
    /// not keep the others waiting.
    mutating func take(_ limit: Int, at now: UnixTime) -> [InputRecord] {
        var taken: [InputRecord] = []
        let heads = partitions.compactMap { partition, waiting in waiting.first.map { (partition, due: $0.due) } }
        for (partition, _) in heads.sorted(by: { $0.due < $1.due }) {
            while taken.count < limit, let first = partitions[partition]?.first, first.due <= now {
                partitions[partition]?.removeFirst()
                memory -= first.record.memory
                taken.append(first.record)
            }
        }
        return taken
    }

    /// When the next record may be taken; nil where none waits.
    var nextDue: UnixTime? { partitions.values.compactMap { $0.first?.due }.min() }

    /// The partitions are someone else's.
    mutating func drop(_ dropped: some Sequence<TopicPartition>) {
        for partition in dropped {
            memory -= partitions[partition]?.reduce(0) { $0 + $1.record.memory } ?? 0
            partitions[partition] = nil
            paused.remove(partition)
        }
    }

    /// The partitions of which nothing more is fetched while enough of them waits here.
    mutating func throttled() -> Set<TopicPartition> {
        let isFull = memory >= limit
        for (partition, waiting) in partitions where waiting.count >= Self.bounds.pause || isFull && !waiting.isEmpty {
            paused.insert(partition)
        }
        guard memory < limit / 2 || limit == .max else { return paused }
        paused = paused.filter { (partitions[$0]?.count ?? 0) > Self.bounds.resume }
        return paused
    }
}
