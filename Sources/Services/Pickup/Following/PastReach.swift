import Kafka

/// A record of the token topic's past.
enum PastRecord: Sendable {
    /// A subject's token.
    case token(HeldToken, key: [UInt8])
    /// The erasure of a subject's tokens, at a time in milliseconds since 1970; nil where the record states no time.
    case erasure(key: [UInt8], at: Int64?)

    /// Whether it is a token's record.
    var isToken: Bool { if case .token = self { true } else { false } }

    /// The version that a token published at the same time has; nil where it is unknown.
    var version: Int64? {
        switch self {
        case .token(let token, _): token.version
        case .erasure(_, let time):
            time.map { $0.multipliedReportingOverflow(by: 1000) }.flatMap { $0.overflow ? nil : $0.partialValue }
        }
    }

    /// Applies the record to `store`.
    func tell(_ store: TokenStore) {
        switch self {
        case .token(let token, let key): store.recalled(token, for: key)
        case .erasure(let key, _): store.erasedBefore(key, upTo: PastReach.latest(version ?? .max))
        }
    }
}

/// The progress of reading the token topic's past, and the version from which on no partition can hold a newer unread
/// token. A value without a broker.
///
/// A partition is read from its newest record to its oldest, and versions are times. So unread records are older than
/// those that were read, except for the disorder that workers' clocks and slow deliveries cause (`disorder`). Where
/// partitions were added to the topic, a subject's tokens are in several of them, so every partition counts for every
/// subject.
struct PastReach: Sendable {
    /// The longest time by which a record may be older than an earlier one of its partition, in microseconds: workers'
    /// clocks may differ by 15 seconds, and a delivery may take 30.
    static let disorder: Int64 = 60_000_000

    private struct Partition: Sendable {
        /// The highest version among the oldest records that were read; unread ones are older.
        var lowest = Int64.max
        /// The version that no unread record exceeds, once every needed record was read.
        var end: Int64?

        /// The version that no unread record exceeds, disorder aside.
        var reach: Int64 { end ?? lowest }
    }

    private var partitions: [TopicPartition: Partition]
    /// The version from which on records are needed.
    var since = Int64.min

    /// The reach before anything of `partitions` was read.
    init(of partitions: some Sequence<TopicPartition>) {
        self.partitions = Dictionary(partitions.map { ($0, Partition()) }) { first, _ in first }
    }

    /// Returns the highest version of a record that may be out of order with `version`.
    static func latest(_ version: Int64) -> Int64 {
        guard version > .min else { return .min }
        let (sum, isTooHigh) = version.addingReportingOverflow(disorder)
        return isTooHigh ? .max : sum
    }

    /// The version from which on a token that was read is its subject's newest.
    var certain: Int64 { partitions.values.map { Self.latest($0.reach) }.max() ?? .min }

    /// Returns those of `candidates` that were read so much further back than another partition that reading on would be
    /// in vain: the partition that was read back least decides which tokens count.
    func ahead(among candidates: Set<TopicPartition>) -> Set<TopicPartition> {
        guard let last = partitions.values.lazy.map(\.reach).max() else { return [] }
        return candidates.filter { candidate in
            partitions[candidate].map { Self.latest($0.reach) < last } ?? false
        }
    }

    /// Returns whether every needed record of `partition` was read: the rest is older.
    func isEnough(of partition: TopicPartition) -> Bool {
        partitions[partition].map { Self.latest($0.reach) < since } ?? true
    }

    /// Notes `records` of `partition`, the next ones before those read earlier. The highest of their versions counts,
    /// so that a single version that is much too low proves nothing.
    mutating func read(_ records: [PastRecord], of partition: TopicPartition) {
        guard let version = records.lazy.compactMap(\.version).max(), let known = partitions[partition]?.lowest else {
            return
        }
        partitions[partition]?.lowest = min(known, version)
    }

    /// Notes that every needed record of `partition` was read.
    ///
    /// - Parameter isWhole: whether it was read to its first record.
    mutating func end(_ partition: TopicPartition, isWhole: Bool) {
        partitions[partition]?.end = isWhole ? .min : since
    }
}
