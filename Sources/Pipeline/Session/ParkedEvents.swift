import AdapterKit

/// Events that wait in their places for their vendors' answers, while nobody waits behind them.
///
/// They are looked at in rounds, one for each time that answers came. Within a round the events of a partition that stand
/// behind one that goes on waiting are passed over, so that a partition's events end in their order.
struct ParkedEvents: Sendable {

    private struct Parked: Sendable {
        let record: InputRecord
        let until: UnixTime
    }

    private var events: [Parked] = []
    /// Those in work that were parked before, and until when they were.
    private var resumed: [RecordPosition: UnixTime] = [:]
    /// How many are left of this round, and whose partitions are passed over.
    private var round: (left: Int, stuck: Set<TopicPartition>) = (0, [])

    var count: Int { events.count }
    var isEmpty: Bool { events.isEmpty }
    /// How much memory they take, in bytes.
    var memory: Int { events.reduce(0) { $0 + $1.record.memory } }
    /// When the first of them has waited long enough.
    var soonest: UnixTime? { events.lazy.map(\.until).min() }

    /// An event waits until `moment`, or as long as it was to wait when it began to.
    mutating func park(_ record: InputRecord, until moment: UnixTime) {
        if let before = resumed[record.origin] {
            events.append(Parked(record: record, until: before))
            round.stuck.insert(TopicPartition(record.origin))
        } else {
            events.append(Parked(record: record, until: moment))
        }
    }

    /// What was in work is not any more.
    mutating func workEnded() { resumed = [:] }

    /// Answers came: a new round begins.
    mutating func answersCame() { round = (events.count, []) }

    /// Whether this round has events that were not looked at.
    var hasRound: Bool { round.left > 0 && !events.isEmpty }

    /// The next events of this round, at most `limit`.
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
        // What was looked at goes to the end, behind what is left of the round.
        events = events[seen...] + kept
        round.left -= seen
        return begin(taken)
    }

    /// Up to `limit` events that have waited long enough.
    mutating func takeExpired(at now: UnixTime, _ limit: Int) -> [InputRecord] { take(limit) { $0.until <= now } }

    /// Up to `limit` events that stand in front of others that are ready: nobody waits behind one that waits.
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

    /// All of them, which do not wait any more.
    mutating func takeAll() -> [InputRecord] {
        defer { self = ParkedEvents() }
        return events.map(\.record)
    }

    /// The partitions are someone else's.
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

    /// Each partition's events in the order of their offsets.
    private mutating func begin(_ taken: [Parked]) -> [InputRecord] {
        resumed = Dictionary(taken.map { ($0.record.origin, $0.until) }) { first, _ in first }
        return taken.map(\.record).sorted { $0.origin.offset < $1.origin.offset }
    }
}
