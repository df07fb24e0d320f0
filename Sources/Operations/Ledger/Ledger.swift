package import AdapterKit
package import Pipeline

/// Who holds a live token of which key: the token topic, read record by record, as a value.
///
/// Of each subject it keeps a hash and where its newest token stands, 40 bytes, never the subject itself; with the table's
/// room to grow, at most 161 bytes per subject (`bytesPerSubject`).
package struct Ledger: Sendable {
    /// Tokens of one key of one app.
    package struct Holding: Sendable, Equatable {
        /// The app.
        package let app: String
        /// The id of the key's version.
        package let keyID: String
        /// How many live.
        package internal(set) var live = 0
        /// When the first of them ends, in seconds since 1970.
        package internal(set) var firstEnd: Int64?
        /// When the last of them ends.
        package internal(set) var lastEnd: Int64?
        /// How many ended already and are still on the token topic.
        package internal(set) var ended = 0
    }

    private struct SubjectHash: Hashable {
        let high, low: UInt64
    }

    private struct Label: Hashable {
        let app: String
        let keyID: String
    }

    private struct Newest {
        var version: Int64
        var offset: Int64
        var expiresAt: UInt32
        var partition: Int16
        var label: UInt16
    }

    private var subjects: [SubjectHash: Newest] = [:]
    private var labels: [Label] = []
    private var labelNumbers: [Label: UInt16] = [:]
    /// How many records were no replacement tokens.
    package private(set) var strangers = 0

    /// The most memory a subject takes, in bytes: an entry, and as much again while the table grows.
    package static let bytesPerSubject = 161

    /// Nothing read yet.
    package init() {}

    /// How many subjects have a token on the token topic, live or not.
    package var subjectCount: Int { subjects.count }

    /// A record of the token topic; one without a value takes the subject's token away.
    package mutating func take(
        key: [UInt8]?, headers: [RecordHeader], isTombstone: Bool, partition: Int32, offset: Int64
    ) {
        guard let key else {
            strangers += 1
            return
        }
        let hash = Self.hash(key)
        guard !isTombstone else {
            subjects[hash] = nil
            return
        }
        guard let entry = LedgerEntry(headers: headers), let label = number(of: entry) else {
            strangers += 1
            return
        }
        if let known = subjects[hash], known.version > entry.version { return }
        subjects[hash] = Newest(
            version: entry.version, offset: offset, expiresAt: UInt32(clamping: entry.expiresAt),
            partition: Int16(truncatingIfNeeded: partition), label: label)
    }

    /// Whether the record at this place is the newest of its subject, lives at `now` and is meant by `filter`; if so, when it
    /// ends.
    package func end(
        key: [UInt8], partition: Int32, offset: Int64, matching filter: LedgerFilter, at now: UnixTime
    ) -> Int64? {
        guard let newest = subjects[Self.hash(key)], newest.offset == offset,
            newest.partition == Int16(truncatingIfNeeded: partition)
        else { return nil }
        let end = Int64(newest.expiresAt), label = labels[Int(newest.label)]
        guard end > now.seconds, filter.matches(app: label.app, keyID: label.keyID, expiresAt: end) else { return nil }
        return end
    }

    /// What lives at `now`, by app and key, in their order.
    package func holdings(at now: UnixTime, matching filter: LedgerFilter = LedgerFilter()) -> [Holding] {
        var holdings = labels.map { Holding(app: $0.app, keyID: $0.keyID) }
        for newest in subjects.values {
            let number = Int(newest.label), end = Int64(newest.expiresAt)
            guard filter.matches(app: labels[number].app, keyID: labels[number].keyID, expiresAt: end) else { continue }
            guard end > now.seconds else {
                holdings[number].ended += 1
                continue
            }
            holdings[number].live += 1
            holdings[number].firstEnd = min(holdings[number].firstEnd ?? end, end)
            holdings[number].lastEnd = max(holdings[number].lastEnd ?? end, end)
        }
        return holdings.filter { $0.live + $0.ended > 0 }.sorted { ($0.app, $0.keyID) < ($1.app, $1.keyID) }
    }

    private mutating func number(of entry: LedgerEntry) -> UInt16? {
        let label = Label(app: entry.app, keyID: entry.keyID)
        if let number = labelNumbers[label] { return number }
        guard let number = UInt16(exactly: labels.count) else { return nil }
        labels.append(label)
        labelNumbers[label] = number
        return number
    }

    /// Half of a SHA-256: that two of a billion subjects share one is less likely than a fault of the machine.
    private static func hash(_ key: [UInt8]) -> SubjectHash {
        let digest = SHA256.hash(key)
        func word(_ start: Int) -> UInt64 { digest[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        return SubjectHash(high: word(0), low: word(8))
    }
}
