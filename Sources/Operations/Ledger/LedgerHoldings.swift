package import AdapterKit

/// Tokens of one key of one app.
package struct LedgerHolding: Sendable, Equatable {
    /// The app.
    package let app: String
    /// The id of the key's version.
    package let keyID: String
    /// How many live.
    package private(set) var live = 0
    /// When the first of them ends, in seconds since 1970.
    package private(set) var firstEnd: Int64?
    /// When the last of them ends.
    package private(set) var lastEnd: Int64?
    /// How many ended already and are still on the token topic.
    package private(set) var ended = 0

    /// None yet.
    init(app: String, keyID: String) {
        self.app = app
        self.keyID = keyID
    }

    mutating func count(_ end: Int64, at now: UnixTime) {
        guard end > now.seconds else {
            ended += 1
            return
        }
        live += 1
        firstEnd = min(firstEnd ?? end, end)
        lastEnd = max(lastEnd ?? end, end)
    }
}

/// Who holds a live token of which key: what was counted on the token topic.
package struct LedgerHoldings: Sendable {
    private var holdings: [LedgerLabel: LedgerHolding] = [:]
    /// How many subjects have a token on the token topic, live or not.
    package private(set) var subjectCount = 0
    /// How many records were no replacement tokens.
    package private(set) var strangers = 0

    /// Nothing counted yet.
    package init() {}

    /// By app and key, in their order.
    package var list: [LedgerHolding] { holdings.values.sorted { ($0.app, $0.keyID) < ($1.app, $1.keyID) } }

    /// How many of all live.
    package var live: Int { holdings.values.reduce(0) { $0 + $1.live } }

    /// Adds what `table` holds at `now` and `filter` means.
    package mutating func add(_ table: LedgerTable, matching filter: LedgerFilter, at now: UnixTime) {
        subjectCount += table.subjectCount
        strangers += table.strangers
        table.each { label, end in
            guard filter.matches(app: label.app, keyID: label.keyID, expiresAt: end) else { return }
            holdings[label, default: LedgerHolding(app: label.app, keyID: label.keyID)].count(end, at: now)
        }
    }
}
