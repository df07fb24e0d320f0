import AdapterKit
import DequeModule

/// Events that were taken and not begun: fresh ones in their order, retries until their moment. Those of a lane that rests stay and are
/// not begun.
struct TakenEvents: Sendable {

    private struct Arrived: Sendable {
        let record: InputRecord
        let at: UnixTime
    }

    private var fresh = PerLane { _ in Deque<Arrived>() }
    private var retries: RetrySchedule
    /// How much memory the fresh ones of each lane take, in bytes.
    private var freshMemory = PerLane { _ in 0 }
    /// The lanes that rest.
    var paused: Set<Lane> = []
    /// When a live event was last taken.
    private var lastLive: UnixTime?

    /// - Parameter memory: how much the retries that wait may take, in bytes, before nothing more of them is fetched.
    init(_ policy: RetryPolicy, memory: Int) { retries = RetrySchedule(policy, memory: memory) }

    /// How much memory the fresh ones take, in bytes; but for lanes that rest, for they would keep the others from being taken. What
    /// they hold was within the limit when it was taken, and does not grow.
    var memory: Int {
        Lane.allCases.reduce(0) { paused.contains($1) ? $0 : $0 + freshMemory[$1] }
    }

    /// Changes how much the retries that wait may take, in bytes.
    mutating func limit(memory: Int) { retries.limit = memory }

    /// How many there are.
    func count(_ lane: Lane) -> Int { lane == .retries ? retries.count : fresh[lane].count }

    /// How many fresh ones of `lane` may be begun.
    func waiting(_ lane: Lane) -> Int { paused.contains(lane) ? 0 : fresh[lane].count }

    /// How many may be begun; of the retries counted up to `limit`.
    func ready(at now: UnixTime, limit: Int) -> PerLane<Int> {
        PerLane { lane in
            guard lane == .retries else { return waiting(lane) }
            return paused.contains(lane) ? 0 : retries.dueCount(at: now, limit: limit)
        }
    }

    /// When the first of the fresh ones came that may be begun; nil where there is none.
    var firstArrival: UnixTime? {
        [Lane.live, .bulk].compactMap { paused.contains($0) ? nil : fresh[$0].first?.at }.min()
    }

    /// When the next retry may be begun; nil where none waits.
    var nextRetry: UnixTime? { paused.contains(.retries) ? nil : retries.nextDue }

    /// Whether a live event was taken within the last second, so that another may come any moment; none comes of a lane that rests.
    func isLiveAbout(at now: UnixTime) -> Bool {
        guard !paused.contains(.live), let lastLive, lastLive <= now else { return false }
        return now.microseconds(since: lastLive) < 1_000_000
    }

    mutating func append(_ records: [InputRecord], on lane: Lane, at now: UnixTime) {
        if lane == .live, !records.isEmpty { lastLive = now }
        for record in records {
            if lane == .retries {
                retries.append(record, at: now)
            } else {
                fresh[lane].append(Arrived(record: record, at: now))
                freshMemory[lane] += record.memory
            }
        }
    }

    /// Takes so many of each lane, the first ones.
    mutating func take(_ counts: PerLane<Int>, at now: UnixTime) -> [InputRecord] {
        var records: [InputRecord] = []
        for lane in Lane.allCases {
            if lane == .retries {
                records += retries.take(counts[lane], at: now)
            } else {
                for arrived in fresh[lane].prefix(counts[lane]) {
                    records.append(arrived.record)
                    freshMemory[lane] -= arrived.record.memory
                }
                fresh[lane].removeFirst(counts[lane])
            }
        }
        return records
    }

    /// Puts events back that were taken out, before the others.
    mutating func putBack(_ records: [InputRecord]) {
        for record in records.reversed() where record.lane != .retries {
            fresh[record.lane].prepend(Arrived(record: record, at: UnixTime(microseconds: .min)))
            freshMemory[record.lane] += record.memory
        }
        retries.putBack(records.filter { $0.lane == .retries })
    }

    /// The partitions are someone else's.
    mutating func drop(_ partitions: Set<TopicPartition>, of lane: Lane) {
        fresh[lane].removeAll { arrived in
            guard partitions.contains(TopicPartition(arrived.record.origin)) else { return false }
            freshMemory[lane] -= arrived.record.memory
            return true
        }
        if lane == .retries { retries.drop(partitions) }
    }

    /// The partitions of the retry lane of which nothing more is fetched until some of them ended.
    mutating func throttledRetries() -> Set<TopicPartition> { retries.throttled() }
}
