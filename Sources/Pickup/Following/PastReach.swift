import Kafka

/// A record of the token topic's past.
enum PastRecord: Sendable {
    /// A subject's token.
    case token(HeldToken, key: [UInt8])
    /// The erasure of a subject's tokens, at a time in milliseconds since 1970; nil where the record does not say when.
    case erasure(key: [UInt8], at: Int64?)

    /// Whether it is a token's.
    var isToken: Bool { if case .token = self { true } else { false } }

    /// The version that a token has which was published at the same time; nil where that is unknown.
    var version: Int64? {
        switch self {
        case .token(let token, _): token.version
        case .erasure(_, let time):
            time.map { $0.multipliedReportingOverflow(by: 1000) }.flatMap { $0.overflow ? nil : $0.partialValue }
        }
    }

    /// Tells `desk` of it.
    func tell(_ desk: TokenDesk) {
        switch self {
        case .token(let token, let key): desk.recalled(token, for: key)
        case .erasure(let key, _): desk.erasedBefore(key, upTo: PastReach.latest(version ?? .max))
        }
    }
}

/// The reach of the readings of the token topic's past, and the version from which on no partition can hold a newer token that was
/// not read. A value without a broker.
///
/// A partition is read from its newest record to its oldest, and versions are moments: what is not read is older than what was, but
/// for what workers' clocks and a slow delivery put out of order (`disorder`). A subject's tokens are in several partitions where
/// partitions were added to the topic, at whatever time, so that every partition counts for every subject.
struct PastReach: Sendable {
    /// The most by which a record may be older than one that is before it in its partition, in microseconds: clocks of workers that
    /// differ by 15 s, and the 30 s that a delivery may take.
    static let disorder: Int64 = 60_000_000

    private struct Partition: Sendable {
        /// The highest version among the oldest records that were read: what is not read is older.
        var lowest = Int64.max
        /// The version that nothing unread is above, once all that is wanted was read.
        var end: Int64?

        /// The version that nothing unread is above, but for what is out of order.
        var reach: Int64 { end ?? lowest }
    }

    private var partitions: [TopicPartition: Partition]
    /// The version from which on records are wanted.
    var since = Int64.min

    /// Partitions of which nothing was read.
    init(of partitions: some Sequence<TopicPartition>) {
        self.partitions = Dictionary(partitions.map { ($0, Partition()) }) { first, _ in first }
    }

    /// Returns the highest version of what is out of order with `version`.
    static func latest(_ version: Int64) -> Int64 {
        guard version > .min else { return .min }
        let (sum, isTooHigh) = version.addingReportingOverflow(disorder)
        return isTooHigh ? .max : sum
    }

    /// The version from which on a token that was read is its subject's newest.
    var certain: Int64 { partitions.values.map { Self.latest($0.reach) }.max() ?? .min }

    /// Whether all that is wanted of `partition` was read: the rest is older.
    func isEnough(of partition: TopicPartition) -> Bool {
        partitions[partition].map { Self.latest($0.reach) < since } ?? true
    }

    /// Notes `records` of `partition`, those next to what was read before. The highest of their versions counts, so that one that is much
    /// too low proves nothing.
    mutating func read(_ records: [PastRecord], of partition: TopicPartition) {
        guard let version = records.lazy.compactMap(\.version).max(), let known = partitions[partition]?.lowest else {
            return
        }
        partitions[partition]?.lowest = min(known, version)
    }

    /// Notes that everything of `partition` was read that is wanted.
    ///
    /// - Parameter isWhole: whether it was read to its first record.
    mutating func end(_ partition: TopicPartition, isWhole: Bool) {
        partitions[partition]?.end = isWhole ? .min : since
    }
}
