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

    mutating func limit(memory: Int) { retries.limit = memory }

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

/// Events that wait in place for their vendors' answers, while no event is queued behind them.
///
/// The worker checks them in rounds, one round for each arrival of answers. If an event continues to wait, the round
/// skips the events behind it in its partition, so that a partition's events settle in order.
struct ParkedEvents: Sendable {

    private struct Parked: Sendable {
        let record: InputRecord
        let until: UnixTime
    }

    private var events: [Parked] = []
    /// The events in work that were parked before, with the ends of their waits.
    private var resumed: [RecordPosition: UnixTime] = [:]
    /// The number of events left in this round, and the partitions that the round skips.
    private var round: (left: Int, stuck: Set<TopicPartition>) = (0, [])

    var count: Int { events.count }
    var isEmpty: Bool { events.isEmpty }
    var memory: Int { events.reduce(0) { $0 + $1.record.memory } }
    var soonest: UnixTime? { events.lazy.map(\.until).min() }

    /// Parks an event until `moment`. If the event was parked before, its earlier limit stays.
    mutating func park(_ record: InputRecord, until moment: UnixTime) {
        if let before = resumed[record.origin] {
            events.append(Parked(record: record, until: before))
            round.stuck.insert(TopicPartition(record.origin))
        } else {
            events.append(Parked(record: record, until: moment))
        }
    }

    mutating func workEnded() { resumed = [:] }

    /// Begins a new round, because answers arrived.
    mutating func answersCame() { round = (events.count, []) }

    var hasRound: Bool { round.left > 0 && !events.isEmpty }

    /// Returns the next events of this round, at most `limit`.
    mutating func takeRound(_ limit: Int) -> [InputRecord] {
        let window = min(round.left, events.count)
        var seen = 0
        var taken: [Parked] = []
        var kept: [Parked] = []
        for parked in events[..<window] where taken.count < limit {
            seen += 1
            if round.stuck.contains(TopicPartition(parked.record.origin)) {
                kept.append(parked)
            } else {
                taken.append(parked)
            }
        }
        // Skipped events go to the end, behind the rest of the round.
        events = events[seen...] + kept
        round.left -= seen
        return begin(taken)
    }

    /// Returns up to `limit` events whose wait is over.
    mutating func takeExpired(at now: UnixTime, _ limit: Int) -> [InputRecord] { take(limit) { $0.until <= now } }

    /// Returns up to `limit` events that are in front of ready ones of their partition: no event may be queued behind a
    /// waiting one.
    mutating func takeInTheWay(of ready: [Batch], _ limit: Int) -> [InputRecord] {
        guard !events.isEmpty else { return [] }
        var last: [TopicPartition: Int64] = [:]
        for record in ready.lazy.flatMap(\.records) {
            let partition = TopicPartition(record.origin)
            last[partition] = max(last[partition] ?? record.origin.offset, record.origin.offset)
        }
        return take(limit) { parked in
            last[TopicPartition(parked.record.origin)].map { parked.record.origin.offset < $0 } ?? false
        }
    }

    mutating func takeAll() -> [InputRecord] {
        defer { self = ParkedEvents() }
        return events.map(\.record)
    }

    /// Drops the events of partitions that now belong to another member.
    mutating func drop(_ partitions: Set<TopicPartition>, of lane: Lane) {
        events.removeAll { $0.record.lane == lane && partitions.contains(TopicPartition($0.record.origin)) }
    }

    private mutating func take(_ limit: Int, where isMeant: (Parked) -> Bool) -> [InputRecord] {
        var taken: [Parked] = []
        events.removeAll { parked in
            guard taken.count < limit, isMeant(parked) else { return false }
            taken.append(parked)
            return true
        }
        round.left = min(round.left, events.count)
        return begin(taken)
    }

    /// Returns the events, each partition's in the order of their offsets.
    private mutating func begin(_ taken: [Parked]) -> [InputRecord] {
        resumed = Dictionary(taken.map { ($0.record.origin, $0.until) }) { first, _ in first }
        return taken.map(\.record).sorted { $0.origin.offset < $1.origin.offset }
    }
}
