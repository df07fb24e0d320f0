import AdapterKit
import Kafka
import Pipeline

/// Tokens in a partition to which workers no longer send their subject's tokens, because partitions were added to the
/// topic: a newer token of the subject may be in another partition. They count only where there is none.
struct StrayTokens {
    /// A live token that matches the reading's filter and is the newest of its subject in its partition.
    private struct Token {
        let home: Int32
        let token: LedgerTable.NewestToken
    }

    private let partitions: Int
    /// The maximum number of subjects.
    private let limit: Int
    /// The subjects with a record outside of their partition, of the partition that is being read.
    private var pending: [SubjectHash: Int32] = [:]
    private var tokens: [SubjectHash: Token] = [:]
    /// Whether any record was outside of its subject's partition.
    private(set) var hasAny = false
    /// Whether there are few enough of them. If not, each further token counts by itself until it ends.
    private var isComplete = true

    /// The memory of a subject, in bytes.
    private static let bytesPerSubject = 160

    /// No tokens yet, of a topic with a number of partitions.
    ///
    /// - Parameter memory: the limit, in bytes.
    init(partitions: Int, memory: Int) {
        self.partitions = partitions
        limit = memory / Self.bytesPerSubject
    }

    /// Notes the subject of `record` if the record is not in its subject's partition.
    mutating func note(_ record: ConsumedRecord) {
        guard isComplete, partitions > 1, let key = record.key else { return }
        note(key, in: record.position.partition)
    }

    mutating func note(_ key: [UInt8], in partition: Int32) {
        let home = KeyPartition.of(key, count: partitions)
        guard isComplete, home != partition else { return }
        hasAny = true
        pending[SubjectHash(key)] = home
        // The kept tokens were counted nowhere else.
        if pending.count + tokens.count > limit { (isComplete, pending) = (false, [:]) }
    }

    /// Keeps of the noted subjects those whose token in `table`, which has read `partition`, lives at `now` and matches
    /// `filter`.
    ///
    /// - Returns: the subjects whose tokens in this partition are to be counted here, and not from `table`.
    mutating func keep(
        from table: LedgerTable, matching filter: LedgerFilter, at now: UnixTime
    ) -> Set<SubjectHash> {
        var kept: Set<SubjectHash> = []
        for (subject, home) in pending {
            guard let token = table.newest(of: subject), token.expiresAt > now.seconds,
                filter.matches(token.label, expiresAt: token.expiresAt)
            else { continue }
            kept.insert(subject)
            // Partitions were added more than once: the newest of several counts.
            if let known = tokens[subject], known.token.version >= token.version { continue }
            tokens[subject] = Token(home: home, token: token)
        }
        pending = [:]
        return kept
    }

    /// Whether no newer token than that of `subject` was found.
    func contains(_ subject: SubjectHash) -> Bool { tokens[subject] != nil }

    /// The partitions that may have newer tokens.
    var homes: Set<Int32> { Set(tokens.values.map(\.home)) }

    /// Drops the token that the record of `key` replaces: a newer one, or one without a value, in the subject's
    /// partition.
    ///
    /// - Parameter version: the record's version; nil for a record without a value.
    mutating func compare(_ key: [UInt8], _ version: Int64?, in partition: Int32) {
        let subject = SubjectHash(key)
        guard let stray = tokens[subject], stray.home == partition else { return }
        if version.map({ $0 > stray.token.version }) ?? true { tokens[subject] = nil }
    }

    /// Calls `body` with each token for which no newer one was found.
    func each(_ body: (LedgerTable.NewestToken) -> Void) { for stray in tokens.values { body(stray.token) } }
}
