import AdapterKit
import Testing

@testable import Operations

/// A canary is made of users who may be heard of, and nobody can choose to be one.
@Suite struct CanaryChoiceTests {
    private static let now: Int64 = 1_000_000

    private static func candidates(
        _ count: Int, from row: Int = 1, issued: (Int) -> Int64 = { now - 100 - Int64($0) }, life: Int64 = 10_000,
        salt: String = "c-1.1"
    ) -> [CanaryChoice.Candidate] {
        (0..<count).map { place in
            let issued = issued(place)
            let holder = LedgerHolder(
                key: Array("push/u\(row + place)".utf8), issuedAt: issued, expiresAt: issued + life)
            return CanaryChoice.Candidate(row: row + place, holder, salt: salt)
        }
    }

    /// Users whose token expired, users with a live one, users who are wanted, and those who are chosen.
    private static let counts: [(ended: Int, live: Int, wanted: Int, chosen: Int)] = [
        (200, 3800, 40, 40), (200, 12, 20, 12), (5, 0, 20, 0), (0, 0, 20, 0), (0, 1, 1, 1), (1, 1, 2, 1),
    ]

    @Test(arguments: counts) func `a canary has users with a live token alone`(
        _ ended: Int, _ live: Int, _ wanted: Int, _ chosen: Int
    ) {
        let dead = Self.candidates(ended, issued: { Self.now - 9999 - Int64($0) }, life: 9999)
        let choice = CanaryChoice(
            among: dead + Self.candidates(live, from: ended + 1), wanted: wanted, at: Self.now)
        #expect(choice.rows.count == chosen && Set(choice.rows).count == chosen)
        #expect(choice.live == live && choice.rows.allSatisfy { $0 > ended })
    }

    /// The time that a token has left, its lifetime, and whether it is live in spite of a clock that is a quarter of an hour
    /// behind at most.
    @Test(arguments: [(901, 10_800, true), (900, 10_800, false), (451, 900, true), (450, 900, false), (1, 1, true)])
    func `a token lives for longer than the clock may be behind, or has half of its time left`(
        _ left: Int64, _ life: Int64, _ isLive: Bool
    ) {
        let candidates = Self.candidates(1, issued: { _ in Self.now + left - life }, life: life)
        #expect(CanaryChoice(among: candidates, wanted: 1, at: Self.now).live == (isLive ? 1 : 0))
    }

    @Test func `the half whose tokens were issued last comes first, in an order of no time`() {
        // A row's token is the older the higher its number is.
        let candidates = Self.candidates(100)
        let choice = CanaryChoice(among: candidates, wanted: 60, at: Self.now)
        #expect(Set(choice.rows.prefix(50)) == Set(1...50) && choice.rows.dropFirst(50).allSatisfy { $0 > 50 })
        #expect(Array(choice.rows.prefix(50)) != Array(1...50))
        #expect(CanaryChoice(among: candidates.reversed(), wanted: 60, at: Self.now).rows == choice.rows)
        let other = CanaryChoice(among: Self.candidates(100, salt: "c-2.1"), wanted: 60, at: Self.now)
        #expect(other.rows != choice.rows, "another campaign has another canary")
    }

    /// The most of three accounts that must be in each canary by how many are chosen of how many users.
    @Test(arguments: [(10_000, 100), (2000, 20)]) func `accounts with the freshest tokens are in few canaries`(
        _ users: Int, _ wanted: Int
    ) {
        var (chosen, paused) = (0, 0)
        for campaign in 0..<20 {
            let all = Self.candidates(users, salt: "campaign-\(campaign).1")
            let choice = CanaryChoice(among: all, wanted: wanted, at: Self.now)
            // The first three have the tokens that were issued last.
            let hostile = choice.rows.count { $0 <= 3 }
            chosen += hostile
            if RejectionLimit.standard.isExceeded(by: hostile, of: wanted) { paused += 1 }
        }
        // 20 canaries with 1 % of the users: 0.6 of these accounts by chance, and twice as many as they are of the newer half.
        #expect(chosen <= 6, "\(chosen)")
        #expect(paused == 0)
    }

    @Test func `an account whose id is first in one campaign is not in the next`() {
        let first = CanaryChoice(among: Self.candidates(4000, salt: "c-1.1"), wanted: 40, at: Self.now)
        let next = CanaryChoice(among: Self.candidates(4000, salt: "c-2.1"), wanted: 40, at: Self.now)
        #expect(Set(first.rows).intersection(next.rows).count <= 8)
    }

    @Test(arguments: [(3800, 1, 20, 38), (100, 1, 20, 20), (20, 10, 1, 2), (5, 0.1, 1, 1), (5, 100, 1, 5)])
    func `an app's canary has its percent of users, and a least number`(
        _ total: Int, _ percent: Double, _ least: Int, _ wanted: Int
    ) {
        #expect(CanaryChoice.wanted(of: total, percent: percent, least: least) == wanted)
    }
}
