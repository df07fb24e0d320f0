public import AdapterKit

/// The first readable record of a partition's log, which tells one log from another.
///
/// A topic that was deleted and created again under its name has the same partitions and other records. librdkafka 2.0.2 knows neither
/// topic ids nor the epochs of records, so the first record stands for the log: retention moves it forwards only.
public struct LogMark: Sendable, Hashable {
    /// The record's offset.
    public let offset: Int64
    /// The record's timestamp, in milliseconds since 1970; nil where it has none.
    public let timestamp: Int64?

    /// The record at `offset` with `timestamp`.
    public init(offset: Int64, timestamp: Int64?) {
        self.offset = offset
        self.timestamp = timestamp
    }

    /// Whether a log that begins with `first` now is another one than the log that began with this record.
    ///
    /// - Parameter time: the moment until which the log was known to be this one.
    public func isOfAnotherLog(than first: LogMark, seenUntil time: UnixTime?) -> Bool {
        if first.offset < offset { return true }
        if first.offset == offset { return first.timestamp != timestamp }
        // Retention took the marked record, or the new log lost its beginning already. Records of a new log are newer.
        guard let time, let timestamp = first.timestamp else { return false }
        return timestamp > time.milliseconds
    }
}

/// The first readable records of the partitions that this worker reads, so that a log that was replaced is noticed.
public struct LogMarks: Sendable {
    private var marks: [TopicPartition: LogMark] = [:]
    /// Partitions whose log has no known first record: the next record taken is it.
    private var open: Set<TopicPartition> = []
    /// The marks of partitions that were given up: brokers forget a group's offsets with the topic.
    private var former: [TopicPartition: LogMark] = [:]

    /// No partitions.
    public init() {}

    /// The mark of each partition that has one.
    public var all: [TopicPartition: LogMark] { marks }

    /// Begins to read `partition`, whose log begins with `first`; nil where nothing of it can be read yet.
    public mutating func begin(_ partition: TopicPartition, first: LogMark?) {
        marks[partition] = first
        former[partition] = nil
        if first == nil { open.insert(partition) } else { open.remove(partition) }
    }

    /// Forgets partitions that are another member's.
    public mutating func drop(_ partitions: some Sequence<TopicPartition>) {
        for partition in partitions {
            former[partition] = marks.removeValue(forKey: partition) ?? former[partition]
            open.remove(partition)
        }
    }

    /// The mark that `partition` had when it was given up.
    public func former(_ partition: TopicPartition) -> LogMark? { former[partition] }

    /// Notes the first record of each partition that has no mark, of `records` in their order.
    public mutating func took(_ records: [InputRecord]) {
        guard !open.isEmpty else { return }
        for record in records {
            guard open.remove(TopicPartition(record.origin)) != nil else { continue }
            let mark = LogMark(offset: record.origin.offset, timestamp: record.timestamp?.milliseconds)
            marks[TopicPartition(record.origin)] = mark
        }
    }

    /// Compares the marks with what the logs begin with now, and follows retention.
    ///
    /// - Parameter time: the moment of the last comparison.
    /// - Returns: the partitions whose log was replaced, whose marks stay.
    public mutating func replaced(_ firsts: [TopicPartition: LogMark], seenUntil time: UnixTime) -> [TopicPartition] {
        var replaced: [TopicPartition] = []
        for (partition, first) in firsts {
            guard let mark = marks[partition] else { continue }
            if mark.isOfAnotherLog(than: first, seenUntil: time) {
                replaced.append(partition)
            } else {
                marks[partition] = first
            }
        }
        return replaced.sorted { ($0.topic, $0.partition) < ($1.topic, $1.partition) }
    }
}
