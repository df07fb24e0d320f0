import AdapterKit
import DequeModule

/// Consumed events that are not begun: fresh events in their order, retries until they are due. Events of a paused lane
/// stay here.
struct TakenEvents: Sendable {

    private struct Arrived: Sendable {
        let record: InputRecord
        let at: UnixTime
    }

    private var fresh = PerLane { _ in Deque<Arrived>() }
    private var retries: RetrySchedule
    /// The memory of each lane's fresh events, in bytes.
    private var freshMemory = PerLane { _ in 0 }
    /// The paused lanes.
    var paused: Set<Lane> = []
    /// The time at which a live event was last consumed.
    private var lastLive: UnixTime?

    /// Creates an empty store.
    ///
    /// - Parameter memory: the memory of waiting retries at which no more are fetched, in bytes.
    init(_ policy: RetryPolicy, memory: Int) { retries = RetrySchedule(policy, memory: memory) }

    /// The memory of the fresh events, in bytes. Paused lanes do not count, because they would block the other lanes.
    /// Their events were within the limit when they were consumed, and no more arrive.
    var memory: Int {
        Lane.allCases.reduce(0) { paused.contains($1) ? $0 : $0 + freshMemory[$1] }
    }

    /// Changes the memory limit of waiting retries, in bytes.
    mutating func limit(memory: Int) { retries.limit = memory }

    /// Returns the number of events of `lane`.
    func count(_ lane: Lane) -> Int { lane == .retries ? retries.count : fresh[lane].count }

    /// Returns the number of fresh events of `lane` that may begin.
    func waiting(_ lane: Lane) -> Int { paused.contains(lane) ? 0 : fresh[lane].count }

    /// Returns the number of events that may begin; retries are counted up to `limit`.
    func ready(at now: UnixTime, limit: Int) -> PerLane<Int> {
        PerLane { lane in
            guard lane == .retries else { return waiting(lane) }
            return paused.contains(lane) ? 0 : retries.dueCount(at: now, limit: limit)
        }
    }

    /// The arrival of the first fresh event that may begin; nil if there is none.
    var firstArrival: UnixTime? {
        [Lane.live, .bulk].compactMap { paused.contains($0) ? nil : fresh[$0].first?.at }.min()
    }

    /// The time at which the next retry may begin; nil if none waits.
    var nextRetry: UnixTime? { paused.contains(.retries) ? nil : retries.nextDue }

    /// Returns whether a live event arrived within the last second, so that another may follow at any moment. False if
    /// the live lane is paused.
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

    /// Takes the first events of each lane, as many as `counts`.
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

    /// Puts events back in front of the others.
    mutating func putBack(_ records: [InputRecord]) {
        for record in records.reversed() where record.lane != .retries {
            fresh[record.lane].prepend(Arrived(record: record, at: UnixTime(microseconds: .min)))
            freshMemory[record.lane] += record.memory
        }
        retries.putBack(records.filter { $0.lane == .retries })
    }

    /// Drops the events of partitions that now belong to another member.
    mutating func drop(_ partitions: Set<TopicPartition>, of lane: Lane) {
        fresh[lane].removeAll { arrived in
            guard partitions.contains(TopicPartition(arrived.record.origin)) else { return false }
            freshMemory[lane] -= arrived.record.memory
            return true
        }
        if lane == .retries { retries.drop(partitions) }
    }

    /// Returns the paused partitions of the retry lane: no more of them is fetched until some of their events finish.
    mutating func throttledRetries() -> Set<TopicPartition> { retries.throttled() }
}
