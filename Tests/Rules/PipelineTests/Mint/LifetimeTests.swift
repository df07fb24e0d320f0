import AdapterKit
import Pipeline
import Testing

@testable import Pipeline

/// The retirement of the key, in seconds from now, and the resulting lifetime of a token of twelve hours.
struct Retirement: CustomTestStringConvertible, Sendable {
    let after: Int64?
    /// The token's life; nil where none is made.
    let lives: Int64?
    var testDescription: String { "a key that retires after \(after.map(String.init) ?? "never")" }
}

@Suite("The lifetime of a token")
struct LifetimeTests {
    static let retirements = [
        Retirement(after: nil, lives: 43_200), Retirement(after: 86_400, lives: 43_200),
        Retirement(after: 43_201, lives: 43_200),
        Retirement(after: 43_200, lives: 43_200), Retirement(after: 43_199, lives: 43_199),
        Retirement(after: 61, lives: 61),
        Retirement(after: 60, lives: 60), Retirement(after: 59, lives: nil), Retirement(after: 0, lives: nil),
        Retirement(after: -1, lives: nil), Retirement(after: -1_000_000_000_000, lives: nil),
    ]

    @Test(arguments: retirements)
    func `no token outlives its key, and none too short for the vendor is made`(_ retirement: Retirement) async throws {
        let bench = try TestBench()
        bench.signing.activate(
            bench.brazeKey, in: "shop-braze",
            retireAfter: retirement.after.map { bench.clock.now.advanced(bySeconds: $0) })
        let settlement = try await bench.settle(.raw(SampleReport.braze(), app: "shop-ios"))
        let output = try #require(settlement.output)
        guard let lives = retirement.lives else {
            #expect(settlement.outcome == .deferred(tier: 0, .failed(.keyUnavailable)))
            #expect(output.destination == .retries(tier: 0))
            #expect(settlement.detail?.contains("retires") == true)
            #expect(settlement.app == "shop-ios")
            return
        }
        #expect(settlement.outcome == .minted)
        #expect(try output.json["issued_at"]?.integer == 1_763_640_000)
        #expect(try output.json["expires_at"]?.integer == 1_763_640_000 + lives)
        #expect(output.values("remint-expires-at") == [String(1_763_640_000 + lives)])
        let claims = try CompactJWS(parsing: output.token).claims()
        #expect(claims["exp"]?.integer == 1_763_640_000 + lives)
    }

    @Test func `a ring without an active key mints nothing`() async throws {
        let bench = try TestBench()
        bench.signing.deactivate("shop-braze")
        let settlement = try await bench.settle(.raw(SampleReport.braze(), app: "shop-ios"))
        #expect(settlement.outcome == .deferred(tier: 0, .failed(.keyUnavailable)))
        #expect(settlement.detail == "the key ring shop-braze has no active key")
        #expect(settlement.output?.destination == .retries(tier: 0))
    }

    @Test func `a key for another algorithm mints nothing`() async throws {
        let bench = try TestBench()
        bench.signing.activate(try .generate(.es256), in: "shop-braze")
        let settlement = try await bench.settle(.raw(SampleReport.braze(), app: "shop-ios"))
        #expect(settlement.outcome == .deferred(tier: 0, .failed(.keyUnavailable)))
        #expect(settlement.detail == "the active key of shop-braze is for ES256, not RS256")
        #expect(settlement.output?.value == Array(SampleReport.braze().utf8))
    }

    @Test func `one app's key does not stop the others`() async throws {
        let bench = try TestBench()
        bench.signing.deactivate("shop-push")
        var processor = bench.processor()
        let outcomes = await processor.process([
            .raw(SampleReport.challenge(), app: "push"), .raw(SampleReport.braze(), app: "shop-ios"),
            .raw(SampleReport.challenge(), app: "push"), .raw(SampleReport.bloomreach(), app: "web"),
        ]).map(\.outcome)
        let waits = Outcome.deferred(tier: 0, .failed(.keyUnavailable))
        #expect(outcomes == [waits, .minted, waits, .minted])
    }
}

@Suite("Lifetimes with a spread")
struct SpreadTests {
    private static let subjects = (0..<2000).map { Array("shop/user-\($0)".utf8) }

    private func lives(_ share: Double, _ lifetime: Int64 = 36_000, allowed: ClosedRange<Int64> = 60...86_400)
        -> [Int64]
    {
        Self.subjects.map { LifetimeSpread(share).life(of: $0, lifetime: lifetime, allowed: allowed) }
    }

    @Test func `every token lives equally long without a spread`() { #expect(Set(lives(0)) == [36_000]) }

    @Test func `a spread only shortens lives, evenly, and each subject's always alike`() {
        let lives = lives(0.1)
        #expect(lives == self.lives(0.1))
        #expect(lives.allSatisfy { (32_400...36_000).contains($0) })
        let early = lives.count { $0 < 34_200 }
        #expect((800...1200).contains(early), "half of them in the first half: \(early)")
        #expect(Set(lives).count > 50)
    }

    @Test func `a spread never shortens a life below the vendor's minimum`() {
        #expect(lives(0.5, 70, allowed: 60...100).allSatisfy { (60...70).contains($0) })
        #expect(lives(1, 60, allowed: 60...100).allSatisfy { $0 == 60 })
    }

    @Test func `a rotation's tokens do not all end in one second`() async throws {
        let bench = try TestBench()
        let app = App(
            name: "web", adapter: bench.apps[2].adapter, keyRing: "shop-data", lifetime: 900, spread: 0.1)
        let clock = bench.clock
        var processor = BatchProcessor(
            apps: [app], signing: bench.signing, maximumEventBytes: 1 << 16, random: SeededGenerator(seed: 1),
            now: { clock.now })
        let records = (0..<200).map {
            InputRecord.raw(SampleReport.bloomreach(id: "u-\($0)"), app: "web", offset: Int64($0))
        }
        let ends = try await processor.process(records).map { try $0.output?.json["expires_at"]?.integer ?? 0 }
        #expect(Set(ends).count > 20)
        let latest = clock.now.seconds + 900
        #expect(ends.allSatisfy { (latest - 90...latest).contains($0) })
    }
}
