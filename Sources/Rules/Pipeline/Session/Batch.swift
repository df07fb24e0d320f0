public import AdapterKit
import Spans

/// Events that the worker processes together.
public struct Batch: Sendable {
    public let number: Int
    /// The events' records, each partition's in the order of their offsets; without the parked events once the batch is
    /// processed.
    public internal(set) var records: [InputRecord]
    /// The share of the signer's capacity that the batch may use.
    public let urgency: SigningUrgency
    /// The rule for the batch's events that would wait in place for a vendor's answer.
    public let waiting: Waiting
    /// The memory of all events that the batch began with, in bytes.
    let memory: Int
    /// The settlements in the order of the records; empty until the batch is processed.
    public internal(set) var settlements: [Settlement] = []
    /// The events that wait in place for a vendor's answer: each at most until its moment, and only while no event is
    /// queued behind it. Empty until the batch is processed.
    public internal(set) var parked: [(record: InputRecord, until: UnixTime)] = []

    /// Creates a batch of `records`.
    public init(number: Int, records: [InputRecord], urgency: SigningUrgency = .live, waiting: Waiting) {
        self.number = number
        self.records = records
        memory = records.reduce(0) { $0 + $1.memory }
        self.urgency = urgency
        self.waiting = waiting
    }

    /// The batch before the first of its `count` events is settled or parked.
    func emptied(for count: Int) -> Batch {
        var batch = self
        batch.records = []
        batch.records.reserveCapacity(count)
        batch.settlements.reserveCapacity(count)
        return batch
    }
}

/// The rule for events that wait in place for their vendor's answer.
public enum Waiting: Sendable {
    case allowed
    /// The batch has waited, and its events may continue to wait. Behind an event that does, the other events of its
    /// partition wait too, so that they settle in order.
    case resumed
    /// No event may wait: the worker settles each event now.
    case over
}

/// Outputs and the offsets of their inputs, which become visible together.
public struct CommitUnit: Sendable {
    /// The batches, in the order in which they settled.
    public internal(set) var batches: [Batch]
    /// Per lane (each lane is a consumer group), the next record to read of each partition.
    public internal(set) var offsets: PerLane<[TopicPartition: Int64]>
    /// The highest version of the unit's tokens, or a higher one; committed with the offsets. 0 for none.
    public var highestVersion: Int64 = 0
    /// The first record of each partition's log; committed with the partition's offset.
    public var marks: [TopicPartition: LogMark] = [:]

    public var eventCount: Int { batches.reduce(0) { $0 + $1.records.count } }
    public var lastBatch: Int { batches.last?.number ?? 0 }
    /// All events with their settlements, in order.
    public var ends: [(record: InputRecord, settlement: Settlement)] {
        batches.flatMap { Array(zip($0.records, $0.settlements)).map { (record: $0.0, settlement: $0.1) } }
    }

    /// Appends batches that have settled since, and replaces the offsets by the ones that cover all batches.
    public mutating func add(_ addition: CommitUnit) {
        batches += addition.batches
        offsets = addition.offsets
        highestVersion = max(highestVersion, addition.highestVersion)
        marks = addition.marks
    }

    /// Replaces the settlements of some events, because a topic refuses their records.
    ///
    /// - Parameter smaller: the smaller settlement of each event, by its index in `ends`.
    public mutating func replace(_ smaller: [Int: Settlement]) {
        var index = 0
        for batch in batches.indices {
            for place in batches[batch].settlements.indices {
                if let settlement = smaller[index] { batches[batch].settlements[place] = settlement }
                index += 1
            }
        }
    }
}

/// The settled batches that are not committed: the ready ones and those of the current commit.
struct EndedBatches: Sendable {
    private enum Commit {
        case idle
        case open(CommitUnit)
        case closed(CommitUnit)
    }

    private(set) var ready: [Batch] = []
    private var commit = Commit.idle

    /// The unit of the current commit; nil for none.
    var committing: CommitUnit? {
        switch commit {
        case .idle: nil
        case .open(let unit), .closed(let unit): unit
        }
    }

    /// The unit of the current commit if it accepts more batches; nil otherwise.
    var growing: CommitUnit? { if case .open(let unit) = commit { unit } else { nil } }

    var readyCount: Int { ready.reduce(0) { $0 + $1.records.count } }
    /// The memory of all events, in bytes.
    var memory: Int { (ready + (committing?.batches ?? [])).reduce(0) { $0 + $1.memory } }
    var isEmpty: Bool { ready.isEmpty && committing == nil }

    mutating func append(_ batch: Batch) { ready.append(batch) }

    /// Returns a unit of the ready batches. Its offsets also cover the current commit.
    ///
    /// - Parameter progress: the progress up to the last finished commit.
    func addition(to progress: PerLane<PartitionProgress>) -> CommitUnit {
        var ended = progress
        for batch in (committing?.batches ?? []) + ready {
            for record in batch.records { ended[record.lane].finished(record.origin) }
        }
        return CommitUnit(batches: ready, offsets: PerLane { ended[$0].committable })
    }

    mutating func begin(_ progress: PerLane<PartitionProgress>) -> CommitUnit {
        let transaction = addition(to: progress)
        (ready, commit) = ([], .open(transaction))
        return transaction
    }

    /// Moves the ready batches, as the unit `addition`, to the current commit.
    ///
    /// - Returns: Whether it did; false if no commit accepts additions.
    mutating func join(_ addition: CommitUnit) -> Bool {
        guard case .open(var unit) = commit else { return false }
        // One owner at a time, so that nothing is copied.
        commit = .idle
        unit.add(addition)
        (ready, commit) = ([], .open(unit))
        return true
    }

    mutating func close() { if case .open(let unit) = commit { commit = .closed(unit) } }

    mutating func end() -> CommitUnit? {
        defer { commit = .idle }
        return committing
    }

    /// Drops the ready batches; their events are processed again.
    mutating func dropReady() { ready = [] }
}

extension EventTracing {
    /// Records the spans of a commit and, if it succeeded, the spans of its events.
    ///
    /// - Parameters:
    ///   - failure: the reason for a failed commit, in a stable word; nil for a successful one.
    ///   - topic: returns the topic of a destination.
    public func ended(
        _ unit: CommitUnit, failure: String?, from start: UnixTime, to end: UnixTime,
        topic: (OutputRecord.Destination) -> String
    ) {
        let records = unit.batches.lazy.flatMap(\.records)
        guard let commit = SharedTrace("commit", of: records, to: port, from: start) else { return }
        defer { commit.end(at: end, failure: failure) }
        guard failure == nil else { return }
        for batch in unit.batches {
            for (record, settlement) in zip(batch.records, batch.settlements) {
                guard let trace = record.trace else { continue }
                if let output = settlement.output {
                    trace.published(to: topic(output.destination), from: start, to: end, linked: commit.context)
                }
                trace.ended(record, as: settlement, at: end)
            }
        }
    }
}

extension EventTrace {
    /// Ends the event's span, after its settlement became visible.
    fileprivate func ended(_ record: InputRecord, as settlement: Settlement, at time: UnixTime) {
        var attributes = EndedSpan.Attribute.messaging("process", record.origin)
        attributes.append(EndedSpan.Attribute("remint.lane", .text(record.lane.rawValue)))
        attributes.append(EndedSpan.Attribute("remint.outcome", .text(settlement.outcome.name)))
        if let app = settlement.app { attributes.append(EndedSpan.Attribute("remint.app", .text(app))) }
        if let code = settlement.outcome.failure {
            attributes.append(EndedSpan.Attribute("remint.error.code", .text(code)))
        }
        ended(
            "process \(record.origin.topic)", at: time, attributes: attributes,
            status: settlement.outcome.failure.map { .failed($0) } ?? .unset)
    }
}

extension Outcome {
    /// The code of a failed attempt; nil without one.
    fileprivate var failure: String? {
        switch self {
        case .minted, .superseded, .skipped: nil
        case .deadLettered(let code): code.rawValue
        case .deferred(_, let deferral): deferral.isAttempt ? deferral.name : nil
        }
    }
}
