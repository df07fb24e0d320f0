import AdapterKit
import Testing

@testable import Pipeline

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
