import AdapterKit
import Testing

@testable import Pickup

/// Devices that hold streams open are given the next token in time, and not all at once.
@Suite struct RenewalTests {
    /// Devices whose tokens are renewed the moment they are due.
    private struct Fleet {
        let lifetime: Int64
        var renewals: Renewals
        var tokens: [(key: [UInt8], token: HeldToken)] = []
        /// The least that a token still lived when it was renewed, in seconds.
        var closest: Int64
        /// The number of renewals in each second.
        var counts: [Int] = []

        init(lifetime: Int64) {
            self.lifetime = lifetime
            renewals = Renewals(lifetime: lifetime)
            closest = lifetime
        }

        mutating func connect(_ devices: Range<Int>, at now: Int64) {
            tokens += devices.map { (Array("shop/u-\($0)".utf8), token(1, at: now)) }
        }

        mutating func second(_ now: Int64) {
            let due = Set(renewals.due(tokens, at: UnixTime(seconds: now)).map(\.key))
            for index in tokens.indices where due.contains(tokens[index].key) {
                closest = min(closest, tokens[index].token.expiresAt - now)
                tokens[index].token = token(tokens[index].token.version + 1, at: now)
            }
            counts.append(due.count)
        }

        private func token(_ version: Int64, at now: Int64) -> HeldToken {
            HeldToken(text: [], version: version, expiresAt: now + lifetime)
        }
    }

    private static let start: Int64 = 1_800_000_000

    @Test func `two thousand devices that connect at once are renewed evenly, each time`() {
        var fleet = Fleet(lifetime: 120)
        fleet.connect(0..<2000, at: Self.start)
        for second in 1...600 { fleet.second(Self.start + Int64(second)) }
        let mean = Double(fleet.counts.reduce(0, +)) / 600
        #expect(Double(fleet.counts.max() ?? 0) <= 1.5 * mean, "\(fleet.counts)")
        #expect(fleet.closest >= 15, "an eighth of a life is left")
        #expect((16...24).contains(mean), "about one for each life: \(mean)")
    }

    @Test func `devices that connect one after the other are renewed evenly as well`() {
        var fleet = Fleet(lifetime: 120)
        for second in 1...900 {
            if second <= 100 { fleet.connect((second - 1) * 20..<second * 20, at: Self.start + Int64(second)) }
            fleet.second(Self.start + Int64(second))
        }
        let settled = fleet.counts.suffix(600)
        let mean = Double(settled.reduce(0, +)) / 600
        #expect(Double(settled.max() ?? 0) <= 1.5 * mean, "\(fleet.counts)")
        #expect(fleet.closest >= 15)
    }

    @Test func `the slots of a long life are long, and within one they follow each other`() {
        var fleet = Fleet(lifetime: 3600)
        fleet.connect(0..<500, at: Self.start)
        for second in 1...3600 { fleet.second(Self.start + Int64(second)) }
        #expect(fleet.counts.max() ?? 0 <= 2)
        #expect(fleet.closest >= 450)
    }

    @Test func `a device that left costs nothing, and one that comes late is renewed at once`() {
        var renewals = Renewals(lifetime: 120)
        let key = Array("shop/u".utf8)
        let token = HeldToken(text: [], version: 1, expiresAt: Self.start + 120)
        #expect(renewals.due([(key, token)], at: UnixTime(seconds: Self.start)).isEmpty)
        #expect(renewals.due([], at: UnixTime(seconds: Self.start + 119)).isEmpty)
        #expect(renewals.due([(key, token)], at: UnixTime(seconds: Self.start + 110)).count == 1)
    }

    @Test func `a token of a shorter life than the app's is not renewed as soon as it is there`() {
        var renewals = Renewals(lifetime: 120)
        let made = HeldToken(
            text: [], version: Self.start * 1_000_000, expiresAt: Self.start + 60)
        let streamed = [(key: Array("shop/u".utf8), token: made)]
        for second in 0..<10 {
            #expect(renewals.due(streamed, at: UnixTime(seconds: Self.start + Int64(second))).isEmpty)
        }
        #expect((10...45).contains { !renewals.due(streamed, at: UnixTime(seconds: Self.start + $0)).isEmpty })
    }

    @Test func `a stream whose new token lives no longer is not renewed again`() {
        var renewals = Renewals(lifetime: 120)
        let key = Array("shop/u".utf8)
        func token(_ version: Int64) -> HeldToken {
            HeldToken(text: [], version: version, expiresAt: Self.start + 120)
        }
        _ = renewals.due([(key, token(1))], at: UnixTime(seconds: Self.start))
        #expect(renewals.due([(key, token(1))], at: UnixTime(seconds: Self.start + 110)).count == 1)
        for second in Int64(111)..<120 {
            #expect(renewals.due([(key, token(second))], at: UnixTime(seconds: Self.start + second)).isEmpty)
        }
    }

    @Test func `a token that could not be renewed stays due`() {
        var renewals = Renewals(lifetime: 30)
        let key = Array("shop/u".utf8)
        let token = HeldToken(text: [], version: 1, expiresAt: Self.start + 30)
        _ = renewals.due([(key, token)], at: UnixTime(seconds: Self.start))
        for second in Int64(16)...29 {
            #expect(renewals.due([(key, token)], at: UnixTime(seconds: Self.start + second)).count == 1)
        }
    }
}
