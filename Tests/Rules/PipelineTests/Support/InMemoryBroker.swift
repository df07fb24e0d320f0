import AdapterKit

@testable import Pipeline

/// A rule that a walk found violated.
struct WalkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A broker as a group's member meets it: records by partition, who owns each, the group's offsets, and the ends that a
/// `read_committed` reader sees. It refuses what must never happen.
struct InMemoryBroker {

    enum Owner { case nobody, us, another }

    struct Log {
        let lane: Lane
        let tier: Int?
        var records: [InputRecord] = []
        var nextOffset: Int64 = 0
        /// The number of records, counted from the first, that have an outcome.
        var ended = 0
        var committed: Int64 = 0
        var owner = Owner.nobody
    }

    /// In a fixed order, so that a seed always gives the same run.
    let partitions: [TopicPartition]
    private(set) var logs: [TopicPartition: Log] = [:]
    private(set) var ends: [RecordPosition: Int] = [:]
    private var nextRetryPartition = 0

    /// Two partitions for each topic: live, bulk and two tiers.
    init() {
        let topics: [(String, Lane, Int?)] = [
            ("live", .live, nil), ("bulk", .bulk, nil), ("10ms", .retries, 0), ("40ms", .retries, 1),
        ]
        var partitions: [TopicPartition] = []
        for (topic, lane, tier) in topics {
            for number: Int32 in 0..<2 {
                let partition = TopicPartition(topic: topic, partition: number)
                partitions.append(partition)
                logs[partition] = Log(lane: lane, tier: tier)
            }
        }
        self.partitions = partitions
    }

    func log(_ partition: TopicPartition) -> Log { logs[partition] ?? Log(lane: .live, tier: nil) }

    func partitions(of lane: Lane, _ owner: Owner) -> [TopicPartition] {
        partitions.filter { logs[$0]?.lane == lane && logs[$0]?.owner == owner }
    }

    mutating func give(_ partition: TopicPartition, to owner: Owner) { logs[partition]?.owner = owner }

    /// Appends a record, `gap` offsets behind the last: transaction markers and compaction leave holes.
    mutating func produce(
        _ partition: TopicPartition, value: [UInt8] = [0], headers: [RecordHeader] = [], gap: Int64 = 0,
        at now: UnixTime
    ) {
        guard var log = logs[partition] else { return }
        let offset = log.nextOffset + gap
        log.records.append(
            InputRecord(
                origin: RecordPosition(topic: partition.topic, partition: partition.partition, offset: offset),
                timestamp: now,
                key: nil, value: value, headers: headers, lane: log.lane, tier: log.tier))
        log.nextOffset = offset + 1
        logs[partition] = log
    }

    /// Another member of the group answers the next `count` events of its partition.
    mutating func answerElsewhere(_ partition: TopicPartition, _ count: Int) throws(WalkFailure) {
        guard let log = logs[partition], log.owner == .another else { return }
        for record in log.records.dropFirst(log.ended).prefix(count) {
            try end(record.origin)
            try advance(partition, to: record.origin.offset + 1)
        }
    }

    /// Whether every partition of `unit` is still ours, so that its offsets can be committed.
    func accepts(_ unit: CommitUnit) -> Bool {
        Lane.allCases.allSatisfy { unit.offsets[$0].keys.allSatisfy { logs[$0]?.owner == .us } }
    }

    /// Makes everything in `unit` visible at once.
    mutating func commit(_ unit: CommitUnit, at now: UnixTime) throws(WalkFailure) {
        guard accepts(unit) else { throw WalkFailure("offsets of a partition of someone else's") }
        guard unit.ends.count == unit.eventCount else { throw WalkFailure("an event lacks its end") }
        for (record, settlement) in unit.ends {
            guard record.origin == settlement.origin else { throw WalkFailure("another event's end: \(record.origin)") }
            try end(record.origin)
        }
        for lane in Lane.allCases {
            for (partition, offset) in unit.offsets[lane] {
                guard logs[partition]?.lane == lane else { throw WalkFailure("\(partition) in the group of \(lane)") }
                try advance(partition, to: offset)
            }
        }
        for (record, settlement) in unit.ends {
            guard record.origin.offset < log(TopicPartition(record.origin)).committed else {
                throw WalkFailure("an end without its offset: \(record.origin)")
            }
            if let output = settlement.output { publish(output, at: now) }
        }
    }

    private mutating func publish(_ output: OutputRecord, at now: UnixTime) {
        guard case .retries(let tier) = output.destination else { return }
        let targets = partitions.filter { logs[$0]?.tier == tier }
        nextRetryPartition += 1
        produce(
            targets[nextRetryPartition % targets.count], value: output.value ?? [], headers: output.headers, gap: 1,
            at: now)
    }

    private mutating func end(_ origin: RecordPosition) throws(WalkFailure) {
        ends[origin, default: 0] += 1
        guard ends[origin] == 1 else { throw WalkFailure("two ends for \(origin)") }
    }

    private mutating func advance(_ partition: TopicPartition, to offset: Int64) throws(WalkFailure) {
        guard var log = logs[partition], offset > log.committed else {
            throw WalkFailure("\(partition) goes back to \(offset)")
        }
        while log.ended < log.records.count, log.records[log.ended].origin.offset < offset {
            let origin = log.records[log.ended].origin
            guard ends[origin] == 1 else { throw WalkFailure("an offset past \(origin), which has no end") }
            log.ended += 1
        }
        log.committed = offset
        logs[partition] = log
    }

    /// Whether every event has an end.
    var isDrained: Bool { logs.values.allSatisfy { $0.ended == $0.records.count } }
}
