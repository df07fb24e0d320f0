package import AdapterKit
import Formats
package import Kafka
import WorkerConfiguration

/// Live tokens of one version of a ring, as the ledger has them, and the reasons why the ledger may not know all of
/// them.
package struct VersionHoldings: Sendable, Equatable {
    package let version: String
    /// Tokens of configured apps that answer no challenge: their users can be asked for.
    package private(set) var askable = 0
    /// Tokens that answer a challenge: only their devices can renew them.
    package private(set) var challengeBound = 0
    /// Tokens of apps that the configuration does not have, by app.
    package private(set) var orphaned: [String: Int] = [:]
    /// Tokens whose record names no ring of the configuration that has the version.
    package private(set) var unknownRing = 0
    /// The tokens of `unknownRing` whose users can be asked for.
    private var unknownAskable = 0
    /// Records that claim to be tokens and cannot be read.
    package let unreadable: Int
    /// Records that are no tokens.
    package let strangers: Int
    /// The first of the records that are no tokens or cannot be read; nil where there is none.
    package let firstDoubtful: RecordPosition?
    /// The offsets that open transactions hide of the token topic; nil where it was read whole.
    package let hidden: HiddenOffsets?
    /// The end of the last of the tokens, in seconds since 1970; nil where there is none.
    package private(set) var lastEnd: Int64?

    /// The tokens of `version` in `holdings`, which were read for `ring`.
    ///
    /// - Parameter apps: the configured apps.
    package init(_ holdings: LedgerHoldings, version: String, of ring: LedgerRing, apps: Set<String>) {
        self.version = version
        unreadable = holdings.unreadable
        strangers = holdings.strangers
        hidden = holdings.hidden
        firstDoubtful = holdings.firstDoubtful
        for holding in holdings.list where holding.keyID.hasSameBytes(as: version) && holding.live > 0 {
            let owner = ring.owner(of: holding.label)
            guard owner != .other else { continue }
            lastEnd = max(lastEnd ?? 0, holding.lastEnd ?? 0)
            let unbound = holding.live - holding.challengeBound
            let isConfigured = apps.contains(holding.app)
            if owner == .unknown {
                unknownRing += holding.live
                if isConfigured { unknownAskable += unbound }
                continue
            }
            challengeBound += holding.challengeBound
            if isConfigured { askable += unbound } else if unbound > 0 { orphaned[holding.app, default: 0] += unbound }
        }
    }

    package var live: Int { askable + challengeBound + orphaned.values.reduce(0, +) + unknownRing }
    /// Live tokens whose users can be asked for.
    package var waiting: Int { askable + unknownAskable }
    /// Whether the ledger was read whole and shows no live token.
    package var isClear: Bool { live == 0 && unreadable == 0 && strangers == 0 && hidden == nil }

    /// Returns the end of the last token in words, such as `ends at 2026-11-21T10:00:00Z`; empty where there is none.
    ///
    /// - Parameter tolerance: the bound on how far `now` may be ahead.
    package func end(at now: UnixTime, _ tolerance: ClockTolerance = .standard) -> String {
        guard let lastEnd else { return "" }
        let end = UnixTime(seconds: lastEnd)
        guard end <= now else { return "ends at \(end)" }
        return
            "expired at \(end) by this machine's clock, which may be ahead: a token counts for \(DurationText.format(seconds: tolerance.seconds)) longer"
    }

    /// Returns an app's name, which comes from a record, as a line can show it.
    static func shown(_ app: String) -> String {
        let isPlain =
            app.utf8.count <= 64 && app.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0 != "\u{7F}" }
        return isPlain ? app : "(a name that cannot be shown)"
    }

    /// The number of each kind of token, in a line; empty where there is none.
    package var tokenReasons: String {
        var parts: [String] = []
        add(askable, "can be re-issued", "can be re-issued", to: &parts)
        add(
            challengeBound, "answers a challenge, which only its device can renew",
            "answer a challenge, which only their devices can renew", to: &parts)
        for (app, count) in orphaned.sorted(by: { $0.key < $1.key }) {
            add(
                count, "is of the app \(Self.shown(app)), which is not configured",
                "are of the app \(Self.shown(app)), which is not configured", to: &parts)
        }
        add(
            unknownRing, "names no ring of this configuration with that version",
            "name no ring of this configuration with that version", to: &parts)
        return parts.joined(separator: "; ")
    }

    /// The reasons why the ledger does not know all tokens, in a line; empty where it does.
    package var doubts: String {
        var parts: [String] = []
        add(
            unreadable, "record of the token topic cannot be read", "records of the token topic cannot be read",
            to: &parts)
        add(
            strangers, "record of the token topic is no token", "records of the token topic are no tokens", to: &parts)
        if let hidden { parts.append(hidden.fact) }
        return parts.joined(separator: "; ")
    }

    /// The number of each kind, and the unknown part, in a line; empty where there is none.
    package var reasons: String { [tokenReasons, doubts].filter { !$0.isEmpty }.joined(separator: "; ") }

    /// Returns the way to get rid of each kind of token and record, except those that open transactions hide.
    ///
    /// - Parameter reissue: the command that asks for new tokens.
    package func remedies(reissue: String) -> [String] {
        var ways: [String] = []
        if waiting > 0 { ways.append("for the tokens that can be re-issued: \(reissue)") }
        if challengeBound > 0 { ways.append("for those that answer a challenge: wait until they end") }
        if !orphaned.isEmpty {
            let apps = orphaned.keys.sorted().map(Self.shown).joined(separator: " and ")
            ways.append(
                "for those of apps that are not configured: configure \(apps) again and re-issue them, or wait until they end"
            )
        }
        if unknownRing > unknownAskable {
            ways.append("for those that name no ring: configure their ring again, or wait until they end")
        }
        if let place = firstDoubtful {
            ways.append(
                "the first record that is no token or cannot be read is at partition \(place.partition), offset \(place.offset) of \(place.topic): stop its producer, and remove it with a record without a value under its key (compaction), or wait until the topic drops it"
            )
        }
        return ways
    }

    private func add(_ count: Int, _ one: String, _ many: String, to parts: inout [String]) {
        if count > 0 { parts.append("\(count) \(count == 1 ? one : many)") }
    }
}

/// Live tokens of the versions whose tokens a campaign replaces, from one reading of the ledger: the campaign's old
/// version, and the ring's revoked versions where they count.
package struct CampaignHoldings: Sendable, Equatable {
    package let first: VersionHoldings
    package let others: [VersionHoldings]

    /// The holdings of `first` and of `others`, all from one reading.
    package init(_ first: VersionHoldings, _ others: [VersionHoldings] = []) {
        self.first = first
        self.others = others
    }

    private var all: [VersionHoldings] { [first] + others }
    private var living: [VersionHoldings] { all.filter { $0.live > 0 } }

    package var live: Int { all.reduce(0) { $0 + $1.live } }
    /// Live tokens whose users can be asked for.
    package var waiting: Int { all.reduce(0) { $0 + $1.waiting } }
    /// Records that claim to be tokens and cannot be read.
    package var unreadable: Int { first.unreadable }
    /// The offsets that open transactions hide of the token topic; nil where it was read whole.
    package var hidden: HiddenOffsets? { first.hidden }
    /// Whether the ledger was read whole and shows no live token of any of the versions.
    package var isClear: Bool { all.allSatisfy(\.isClear) }
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

/// The bound on how far an operator's clock may be ahead of the workers'.
///
/// The operator's clock decides whether a token lives. A clock that is ahead would count tokens as expired that devices
/// still use, so campaigns count a token for this long after its end. A clock that is behind counts tokens for too long
/// by itself. A canary needs tokens that live for certain, so there the clock counts as behind by as much.
package struct ClockTolerance: Sendable, Equatable {
    package static let standard = ClockTolerance(seconds: 900)

    /// The bound, in seconds.
    package let seconds: Int64

    /// A bound of `seconds`, at least 0.
    package init(seconds: Int64) { self.seconds = max(0, seconds) }

    /// Returns the earliest time that it may be where a clock shows `now`.
    package func earliest(at now: UnixTime) -> UnixTime { now.advanced(bySeconds: -seconds) }
}
