public import AdapterKit

/// The first readable record of a partition's log, which distinguishes one log from another.
///
/// A topic that was deleted and created again has the same name and partitions, and other records. librdkafka 2.0.2
/// reports neither topic ids nor the epochs of records, so the first record identifies the log. Retention only moves it
/// forward.
public struct LogMark: Sendable, Hashable {
    /// The record's offset.
    public let offset: Int64
    /// The record's timestamp, in milliseconds since 1970; nil where it has none.
    public let timestamp: Int64?

    /// Creates the mark of the record at `offset` with `timestamp`.
    public init(offset: Int64, timestamp: Int64?) {
        self.offset = offset
        self.timestamp = timestamp
    }

    /// Returns whether a log that now begins with `first` is another log than the one that began with this record.
    ///
    /// - Parameter time: the latest time at which the log was known to be this one.
    public func isOfAnotherLog(than first: LogMark, seenUntil time: UnixTime?) -> Bool {
        if first.offset < offset { return true }
        if first.offset == offset { return first.timestamp != timestamp }
        // Retention deleted the marked record, or the new log already lost its beginning. Records of a new log are
        // newer.
        guard let time, let timestamp = first.timestamp else { return false }
        return timestamp > time.milliseconds
    }
}

/// The marks of the partitions that this worker reads, by which it detects a replaced log.
public struct LogMarks: Sendable {
    private var marks: [TopicPartition: LogMark] = [:]
    /// Partitions without a known first record: the next consumed record becomes the mark.
    private var open: Set<TopicPartition> = []
    /// The marks of partitions that this worker gave up. Brokers delete a group's offsets with the topic.
    private var former: [TopicPartition: LogMark] = [:]

    /// Creates marks without partitions.
    public init() {}

    /// The mark of each partition that has one.
    public var all: [TopicPartition: LogMark] { marks }

    /// Begins to read `partition`, whose log begins with `first`; nil if the log has no readable record yet.
    public mutating func begin(_ partition: TopicPartition, first: LogMark?) {
        marks[partition] = first
        former[partition] = nil
        if first == nil { open.insert(partition) } else { open.remove(partition) }
    }

    /// Moves the marks of partitions that now belong to another member to the former ones.
    public mutating func drop(_ partitions: some Sequence<TopicPartition>) {
        for partition in partitions {
            former[partition] = marks.removeValue(forKey: partition) ?? former[partition]
            open.remove(partition)
        }
    }

    /// Returns the mark that `partition` had when this worker gave it up.
    public func former(_ partition: TopicPartition) -> LogMark? { former[partition] }

    /// Records the mark of each partition that has none: its first record in `records`.
    public mutating func took(_ records: [InputRecord]) {
        guard !open.isEmpty else { return }
        for record in records {
            guard open.remove(TopicPartition(record.origin)) != nil else { continue }
            let mark = LogMark(offset: record.origin.offset, timestamp: record.timestamp?.milliseconds)
            marks[TopicPartition(record.origin)] = mark
        }
    }

    /// Compares the marks with the current first records of the logs, and moves the marks with retention.
    ///
    /// - Parameter time: the time of the last comparison.
    /// - Returns: the partitions whose log was replaced; their marks do not change.
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
