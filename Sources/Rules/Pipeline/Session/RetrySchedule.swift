import AdapterKit
import DequeModule

/// Consumed records of the retry tiers, which wait for their due time, by partition, in order.
///
/// A partition's records leave in the order of their offsets, because nothing may be committed past an unfinished
/// record. Within a tier, that is nearly the order of their due times.
struct RetrySchedule: Sendable {

    private struct Waiting: Sendable {
        let record: InputRecord
        let due: UnixTime
    }

    /// The numbers of waiting records at which a partition is paused and resumed.
    private static let bounds = (pause: 500, resume: 100)

    private let policy: RetryPolicy
    /// The memory at which no more records are fetched, in bytes.
    var limit: Int
    /// The memory of the waiting records, in bytes.
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

    /// Puts records back in front of the waiting ones. Their due time has passed already.
    mutating func putBack(_ records: [InputRecord]) {
        for record in records.reversed() {
            memory += record.memory
            partitions[TopicPartition(record.origin), default: []].prepend(
                Waiting(record: record, due: UnixTime(microseconds: .min)))
        }
    }

    /// Returns the number of due records, counted up to `limit`.
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

    /// Takes up to `limit` due records, of the most overdue partition first: a busy partition must not delay the
    /// others.
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

    /// The earliest due time; nil if no record waits.
    var nextDue: UnixTime? { partitions.values.compactMap { $0.first?.due }.min() }

    /// Drops the records of partitions that now belong to another member.
    mutating func drop(_ dropped: some Sequence<TopicPartition>) {
        for partition in dropped {
            memory -= partitions[partition]?.reduce(0) { $0 + $1.record.memory } ?? 0
            partitions[partition] = nil
            paused.remove(partition)
        }
    }

    /// Returns the paused partitions: no more records of them are fetched while enough wait here.
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
