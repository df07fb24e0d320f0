/// Events that are taken to their ends together.
public struct Batch: Sendable {
    /// Its number; each batch has a higher one than the one before.
    public let number: Int
    /// What it is made of, each partition's records in the order of their offsets.
    public internal(set) var records: [InputRecord]
    /// How much of the machine it may take.
    public let urgency: SigningUrgency
    /// Whether its events may wait in their places for an answer.
    public let waiting: Waiting
    /// How much memory the events that it was begun with take, in bytes.
    let memory: Int
    /// How they ended, in the same order; empty until it was processed.
    public internal(set) var settlements: [Settlement] = []

    /// A batch of `records`.
    public init(number: Int, records: [InputRecord], urgency: SigningUrgency = .live, waiting: Waiting) {
        self.number = number
        self.records = records
        memory = records.reduce(0) { $0 + $1.memory }
        self.urgency = urgency
        self.waiting = waiting
    }
}

/// Whether events may wait in their places for an answer of their vendors.
public enum Waiting: Sendable {
    /// An event may begin to wait.
    case allowed
    /// The batch waited, and its events may go on waiting. Behind one that does, the others of its partition wait too, so that
    /// they end in their order.
    case resumed
    /// No event may wait: each is settled now.
    case over
}

/// Everything that becomes visible together: outputs, and the offsets of the inputs they come from.
public struct CommitUnit: Sendable {
    /// The batches, in order.
    public internal(set) var batches: [Batch]
    /// For each lane, and so each consumer group, the next record to read of each partition.
    public internal(set) var offsets: PerLane<[TopicPartition: Int64]>
    /// The highest version of its tokens, or one above; it goes with the offsets. 0 for none.
    public var highestVersion: Int64 = 0
    /// The first record of each partition's log, which goes with the partition's offset.
    public var marks: [TopicPartition: LogMark] = [:]

    /// How many events it ends.
    public var eventCount: Int { batches.reduce(0) { $0 + $1.records.count } }
    /// The number of the last batch in it.
    public var lastBatch: Int { batches.last?.number ?? 0 }
    /// Every event with its end, in order.
    public var ends: [(record: InputRecord, settlement: Settlement)] {
        batches.flatMap { Array(zip($0.records, $0.settlements)).map { (record: $0.0, settlement: $0.1) } }
    }

    /// Adds what came to its end since: the batches behind the others, and offsets that hold for all of them.
    public mutating func add(_ addition: CommitUnit) {
        batches += addition.batches
        offsets = addition.offsets
        highestVersion = max(highestVersion, addition.highestVersion)
        marks = addition.marks
    }

    /// Replaces the ends of some events, because a topic does not take them as they are.
    ///
    /// - Parameter smaller: the smaller end of each event, by its place in `ends`.
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
