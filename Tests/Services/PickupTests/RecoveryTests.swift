import AdapterKit
import Telemetry
import Testing

@testable import Pickup

/// Tests of the duration of a failure, which is reported when its device gets the token.
@Suite struct RecoveryTests {
    private static let reported = UnixTime(seconds: 1_800_000_000)
    private static let published = reported.advanced(byMicroseconds: 250_000)

    private func token(_ version: Int64 = published.microseconds, reportedAt: UnixTime? = reported) -> HeldToken {
        HeldToken(
            text: [], version: version, expiresAt: Self.reported.seconds + 600, reportedAt: reportedAt)
    }

    @Test func `a token's first hand-over counts, whichever copy it is`() {
        var cache = TokenCache(capacity: 1 << 20)
        cache.put(token(), for: [1], at: Self.published)
        let handed = cache[[1]]
        #expect(handed?.recovery?.end(at: Self.reported.advanced(byMicroseconds: 750_000)) == 0.75)
        #expect(handed?.recovery?.end(at: Self.reported.advanced(bySeconds: 2)) == nil)
        #expect(cache[[1]]?.recovery?.end(at: Self.reported.advanced(bySeconds: 2)) == nil)
        // Its reader may bring the same record again; another version is another failure's.
        cache.put(token(), for: [1], at: Self.published)
        #expect(cache[[1]]?.recovery?.end(at: Self.reported.advanced(bySeconds: 2)) == nil)
        cache.put(token(Self.published.microseconds + 1), for: [1], at: Self.published)
        #expect(cache[[1]]?.recovery?.end(at: Self.reported.advanced(bySeconds: 2)) == 2)
    }

    @Test func `nobody who reported nothing recovers`() {
        #expect(token(reportedAt: nil).recovery == nil)
    }

    @Test func `a clock that is behind makes a recovery take no time`() {
        #expect(token().recovery?.end(at: Self.reported.advanced(bySeconds: -5)) == 0)
    }

    @Test func `a token fetched later than the limit counts as no recovery`() {
        let last = Self.published.advanced(byMicroseconds: Recovery.window)
        #expect(token().recovery?.end(at: last.advanced(byMicroseconds: 1)) == nil)
        #expect(token().recovery?.end(at: last) == 300.25)
        // However long the token took.
        let late = token(Self.reported.advanced(bySeconds: 7200).microseconds)
        #expect(late.recovery?.end(at: Self.reported.advanced(bySeconds: 7201)) == 7201)
    }

    @Test func `each counter and histogram by app has a series with 0 before the first call`() throws {
        let metrics = PickupMetrics()
        metrics.begin(["shop", "push"])
        var count = 0
        let samples = metrics.registry.exposition().split(separator: "\n").filter { !$0.hasPrefix("#") }
        for row in metrics.registry.table where row.contains("`app`") {
            let name = try #require(row.firstMatch(of: /`(\w+)`/)?.1)
            let own = samples.filter { $0.hasPrefix("\(name){") || $0.hasPrefix("\(name)_") }
            count += 1
            let shown = Set(own.compactMap { $0.firstMatch(of: /[{,]app="([^"]*)"/)?.1 })
            #expect(shown == ["shop", "push"], "\(name)")
            #expect(row.contains("| gauge |") || own.allSatisfy { $0.hasSuffix(" 0") }, "\(name)")
        }
        #expect(count >= 3)
    }

    @Test func `the metrics count a recovery for its app, once`() {
        let metrics = PickupMetrics()
        let token = token()
        for _ in 0..<3 { metrics.handedOver(token, "shop", at: Self.reported.advanced(bySeconds: 1)) }
        let text = metrics.registry.exposition()
        #expect(text.contains(#"remint_recovery_seconds_count{app="shop"} 1"# + "\n"))
        #expect(text.contains(#"remint_recovery_seconds_sum{app="shop"} 1"# + "\n"))
    }
}
