public import AdapterKit

/// Events that the worker processes together.
public struct Batch: Sendable {
    /// The batch's number, higher than that of every earlier batch.
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
    /// An event may begin to wait.
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

    /// The number of events in the unit.
    public var eventCount: Int { batches.reduce(0) { $0 + $1.records.count } }
    /// The number of the unit's last batch.
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
