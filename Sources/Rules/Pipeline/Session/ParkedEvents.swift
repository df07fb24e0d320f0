import AdapterKit

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
    /// The memory of the events, in bytes.
    var memory: Int { events.reduce(0) { $0 + $1.record.memory } }
    /// The earliest end of a wait.
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

    /// Forgets which events are in work, after they were processed.
    mutating func workEnded() { resumed = [:] }

    /// Begins a new round, because answers arrived.
    mutating func answersCame() { round = (events.count, []) }

    /// Whether this round has unchecked events.
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

    /// Returns all events and ends their waits.
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
