import JOSE

/// The choice of a canary's users among those of one app, as a value.
///
/// A canary must be able to notice a refusal, and only a device that comes back reports one. So it consists of users
/// who hold a token that lives for certain, although the clock may be behind. The half whose tokens were issued last comes first: these users were active most recently.
/// Within a half the order is that of a hash under a salt that nobody knows before the campaign. An account that
/// fetches fresh tokens, or picks its ids, at most doubles its chance to be chosen, and cannot fill the canary; in the
/// order of time it would be the first user. Users with an expired token are in no canary: they would make it larger
/// without reporting more.
package struct CanaryChoice {
    /// A user who may be chosen.
    package struct Candidate: Sendable, Equatable {
        /// The row in the campaign's list, from 1.
        package let row: Int
        /// The place among others of its half.
        let rank: UInt64
        let issuedAt: Int64
        let expiresAt: Int64
    }

    /// The number of users that a canary has if there are that many and nobody wants fewer.
    package static let least = 20

    /// The chosen users' rows.
    package let rows: [Int]
    /// All candidates who hold a live token.
    package let live: Int

    /// Chooses among `candidates`.
    ///
    /// - Parameters:
    ///   - wanted: the number of users to choose; fewer where fewer hold a live token.
    ///   - now: the time in seconds since 1970.
    ///   - tolerance: the bound on how far `now` may be behind. A token must live for longer than that. One that lives
    ///     no longer than twice as long at all must have half of its time left.
    package init(
        among candidates: [Candidate], wanted: Int, at now: Int64, tolerating tolerance: ClockTolerance = .standard
    ) {
        let live = candidates.filter {
            let life = max(0, $0.expiresAt - $0.issuedAt)
            return $0.expiresAt - min(tolerance.seconds, life / 2) > now
        }.sorted {
            ($1.issuedAt, $0.rank, $0.row) < ($0.issuedAt, $1.rank, $1.row)
        }
        let half = (live.count + 1) / 2
        let order = Self.spread(live.prefix(half)) + Self.spread(live.dropFirst(half))
        rows = order.prefix(max(0, wanted)).map(\.row)
        self.live = live.count
    }

    private static func spread(_ candidates: ArraySlice<Candidate>) -> [Candidate] {
        candidates.sorted { ($0.rank, $0.row) < ($1.rank, $1.row) }
    }

    /// Returns the size of a canary for an app with `total` users: `percent` of them, and at least `least`.
    package static func wanted(of total: Int, percent: Double, least: Int) -> Int {
        max(1, least, Int((Double(total) * percent / 100).rounded(.up)))
    }
}

extension CanaryChoice.Candidate {
    /// The user of `row`, who is the subject `holder`.
    ///
    /// - Parameter salt: a string unknown to anybody who could choose the subject's id.
    package init(row: Int, _ holder: LedgerHolder, salt: String) {
        let digest = SHA256.hash(Array("\(salt)/".utf8) + holder.key)
        self.init(
            row: row, rank: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, issuedAt: holder.issuedAt,
            expiresAt: holder.expiresAt)
    }
}
