package import AdapterKit
package import Kafka

/// Tokens of one key of one app.
package struct LedgerHolding: Sendable, Equatable {
    /// The app.
    package let app: String
    /// The id of the key's version.
    package let keyID: String
    /// The number of live tokens.
    package private(set) var live = 0
    /// The end of the first live token, in seconds since 1970.
    package private(set) var firstEnd: Int64?
    /// The end of the last live token, in seconds since 1970.
    package private(set) var lastEnd: Int64?
    /// The number of expired tokens that are still on the token topic.
    package private(set) var ended = 0
    /// The ring of that version; nil for records from before records named it.
    package let ring: String?
    /// The tokens of `live` that answer a challenge: only their devices can renew them.
    package private(set) var challengeBound = 0

    /// A holding without tokens.
    init(_ label: LedgerLabel) {
        app = label.app
        keyID = label.keyID
        ring = label.ring
    }

    /// The app, the version and the ring.
    package var label: LedgerLabel { LedgerLabel(app: app, keyID: keyID, ring: ring) }

    mutating func count(_ end: Int64, isChallengeBound: Bool, at now: UnixTime) {
        guard end > now.seconds else {
            ended += 1
            return
        }
        live += 1
        if isChallengeBound { challengeBound += 1 }
        firstEnd = min(firstEnd ?? end, end)
        lastEnd = max(lastEnd ?? end, end)
    }
}

/// The live tokens of each key, counted on the token topic.
package struct LedgerHoldings: Sendable {
    private var holdings: [LedgerLabel: LedgerHolding] = [:]
    /// The number of subjects with a token on the token topic, live or not.
    package private(set) var subjectCount = 0
    /// Records that are no replacement tokens.
    package private(set) var strangers = 0
    /// Records that claim to be replacement tokens and cannot be read.
    package private(set) var unreadable = 0

    /// The first record that is no token or cannot be read; nil where there is none.
    package private(set) var firstDoubtful: RecordPosition?

    /// The offsets that open transactions hid of the topic.
    package var hidden: HiddenOffsets?

    /// Holdings without tokens.
    package init() {}

    /// The holdings, sorted by app, version and ring.
    package var list: [LedgerHolding] {
        holdings.values.sorted { ($0.app, $0.keyID, $0.ring ?? "") < ($1.app, $1.keyID, $1.ring ?? "") }
    }

    /// The number of all live tokens.
    package var live: Int { holdings.values.reduce(0) { $0 + $1.live } }

    /// Adds the tokens of `table` at `now` that `filter` matches.
    package mutating func add(_ table: LedgerTable, matching filter: LedgerFilter, at now: UnixTime) {
        add(table, matching: filter, at: now, but: { _ in false })
    }

    /// Adds the tokens of `table` but those of the subjects that `isLeftOut` excludes.
    mutating func add(
        _ table: LedgerTable, matching filter: LedgerFilter, at now: UnixTime, but isLeftOut: (SubjectHash) -> Bool
    ) {
        subjectCount += table.subjectCount
        strangers += table.strangers
        unreadable += table.unreadable
        table.each(but: isLeftOut) { label, end, isChallengeBound in
            guard filter.matches(label, expiresAt: end) else { return }
            holdings[label, default: LedgerHolding(label)].count(end, isChallengeBound: isChallengeBound, at: now)
        }
    }

    /// Notes the first record of `table`, which has read `partition`, that is no token or cannot be read.
    mutating func noteDoubtful(in table: LedgerTable, of partition: TopicPartition) {
        guard firstDoubtful == nil, let offset = table.firstDoubtful else { return }
        firstDoubtful = RecordPosition(
            topic: partition.topic, partition: partition.partition, offset: offset)
    }

    /// Adds a token that matches the filter.
    mutating func add(_ token: LedgerTable.NewestToken, at now: UnixTime) {
        holdings[token.label, default: LedgerHolding(token.label)].count(
            token.expiresAt, isChallengeBound: token.isChallengeBound, at: now)
    }
}
