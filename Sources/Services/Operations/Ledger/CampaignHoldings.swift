import Formats

/// Live tokens of the versions whose tokens a campaign replaces, from one reading of the ledger: the campaign's old
/// version, and the ring's revoked versions where they count.
package struct CampaignHoldings: Sendable, Equatable {
    /// The version in question.
    package let first: VersionHoldings
    /// The other versions.
    package let others: [VersionHoldings]

    /// The holdings of `first` and of `others`, all from one reading.
    package init(_ first: VersionHoldings, _ others: [VersionHoldings] = []) {
        self.first = first
        self.others = others
    }

    private var all: [VersionHoldings] { [first] + others }
    private var living: [VersionHoldings] { all.filter { $0.live > 0 } }

    /// All live tokens of these versions.
    package var live: Int { all.reduce(0) { $0 + $1.live } }
    /// Live tokens whose users can be asked for.
    package var waiting: Int { all.reduce(0) { $0 + $1.waiting } }
    /// Records that claim to be tokens and cannot be read.
    package var unreadable: Int { first.unreadable }
    /// The offsets that open transactions hide of the token topic; nil where it was read whole.
    package var hidden: HiddenOffsets? { first.hidden }
    /// Whether the ledger was read whole and shows no live token of any of the versions.
    package var isClear: Bool { all.allSatisfy(\.isClear) }
    /// The other versions that have live tokens.
    package var otherLiving: [VersionHoldings] { others.filter { $0.live > 0 } }

    /// The version whose last token ends last.
    package var last: VersionHoldings { all.max { ($0.lastEnd ?? 0) < ($1.lastEnd ?? 0) } ?? first }

    /// The tokens left in the ledger, as a part of a sentence.
    package var left: String {
        live.of("live token of \(names) is left in the ledger", "live tokens of \(names) are left in the ledger")
            + (hidden == nil ? "" : " as far as it can be read")
    }

    /// The versions whose tokens these are, such as `2026-05`, or `2026-05 (3) and 2025-11 (2)`.
    package var names: String {
        let living = self.living
        guard living.count > 1 else { return living.first?.version ?? first.version }
        return living.map { "\($0.version) (\($0.live))" }.joined(separator: " and ")
    }

    /// The number of each kind of token, and the unknown part, in a line; empty where there is none.
    package var reasons: String {
        let living = self.living
        let tokens =
            living.count > 1
            ? living.map { "\($0.version): \($0.tokenReasons)" } : living.map(\.tokenReasons)
        return (tokens + [first.doubts]).filter { !$0.isEmpty }.joined(separator: "; ")
    }
}
