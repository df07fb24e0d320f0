import Kafka

/// The windows in which partitions are read from their newest record to their oldest. A log can only be read forward,
/// so a window is read forward and handed on backward; then comes the window before it. A value without a broker.
struct PastWindows<Record: Sendable>: Sendable {
    /// The state of a window after a record.
    enum Finding: Equatable, Sendable {
        /// The window continues.
        case reading
        /// The window was read completely.
        case ended
        /// The window holds too many records; a smaller one begins at a later offset.
        case tooLarge
    }

    private struct Partition: Sendable {
        /// The first offset to read.
        let low: Int64
        /// The first offset that was read already.
        var below: Int64
        /// The length of a window, in offsets; a compacted log has few records in many offsets.
        var width: Int64
        /// The first offset of the window that is being read; nil between two windows.
        var start: Int64?
        var records: [Record] = []
    }

    /// The maximum number of offsets in a window.
    private static var widest: Int64 { 1 << 20 }
    /// The wanted number of records in a window.
    private let size: Int
    private var partitions: [TopicPartition: Partition] = [:]

    /// Windows of about `size` records.
    init(size: Int) { self.size = max(1, size) }

    /// Whether everything was read.
    var isEmpty: Bool { partitions.isEmpty }

    /// The partitions with unread records.
    var open: [TopicPartition] { Array(partitions.keys) }

    /// Whether a window of `partition` was begun and not finished.
    func isReading(_ partition: TopicPartition) -> Bool { partitions[partition]?.start != nil }

    /// Adds `partition`, of which the offsets in `range` must be read.
    mutating func add(_ partition: TopicPartition, _ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        partitions[partition] = Partition(low: range.lowerBound, below: range.upperBound, width: Int64(size))
    }

    /// Begins the next window of `partition`, the newest that was not read.
    ///
    /// - Returns: the window's first offset; nil where everything was read.
    mutating func begin(_ partition: TopicPartition) -> Int64? {
        guard var part = partitions[partition] else { return nil }
        guard part.below > part.low else {
            partitions[partition] = nil
            return nil
        }
        part.records = []
        let start = max(part.low, part.below - part.width)
        part.start = start
        partitions[partition] = part
        return start
    }

    /// Leaves the rest of `partition` unread.
    mutating func leave(_ partition: TopicPartition) { partitions[partition] = nil }

    /// Adds the record at `offset` of `partition`; nil for a record of no use.
    mutating func append(_ record: Record?, at offset: Int64, of partition: TopicPartition) -> Finding {
        guard let part = partitions[partition], let start = part.start else { return .reading }
        guard offset < part.below else { return .ended }
        guard offset >= start else { return .reading }
        if let record { partitions[partition]?.records.append(record) }
        if part.records.count >= 4 * size, part.width > Int64(size) {
            partitions[partition]?.width = Int64(size)
            return .tooLarge
        }
        return RecordPosition.next(after: offset) < part.below ? .reading : .ended
    }

    /// Ends the window of `partition`, which was read to its last record.
    ///
    /// - Returns: the window's records, the newest first.
    mutating func end(_ partition: TopicPartition) -> [Record] {
        guard var part = partitions[partition], let start = part.start else { return [] }
        let records = part.records
        if records.count < size / 2 { part.width = min(part.width * 2, Self.widest) }
        if records.count > size { part.width = max(Int64(size), part.width / 2) }
        part.below = start
        part.start = nil
        part.records = []
        partitions[partition] = part
        return records.reversed()
    }
}
