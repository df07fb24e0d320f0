import AdapterKit
import Testing

@testable import Pipeline

@Suite("Events on their way through the retry tiers")
struct RetryHopTests {
    private static let failing = ScriptedSigning { $0.map { _ in .failure(Rejection(.mintFailed, "the HSM refused")) } }

    /// An event that fails, and fails again whenever its moment has come.
    private func fail(
        _ record: InputRecord, _ bench: TestBench, times: Int, retries: RetryPolicy = .standard
    ) async throws -> [Settlement] {
        var processor = bench.processor(Self.failing, retries: retries)
        var settlements: [Settlement] = []
        var next = record
        for hop in 0..<times {
            let settlement = try #require(await processor.process([next]).first)
            settlements.append(settlement)
            guard case .deferred = settlement.outcome, let output = settlement.output else { break }
            let due = try #require(output.headers.text("remint-not-before").flatMap { Int64($0) })
            bench.clock.now = UnixTime(milliseconds: due)
            next = try output.fromTier(at: bench.clock.now, offset: Int64(hop))
        }
        return settlements
    }

    @Test func `the first hop keeps the event, and has its origin and the failure`() async throws {
        let bench = try TestBench()
        let record = InputRecord.raw(
            SampleReport.braze(), app: "shop-ios", [RecordHeader("traceparent", "00-1"), RecordHeader("a", nil)])
        let settlement = try #require(try await fail(record, bench, times: 1).first)
        #expect(settlement.outcome == .deferred(tier: 0, .failed(.mintFailed)))
        #expect(settlement.detail == "the HSM refused")
        let output = try #require(settlement.output)
        #expect(output.destination == .retries(tier: 0))
        #expect(output.key == record.key)
        #expect(output.value == record.value)
        #expect(Array(output.headers.prefix(3)) == record.headers)
        let notBefore = try #require(output.headers.text("remint-not-before").flatMap { Int64($0) })
        #expect((10_000...10_501).contains(notBefore - TestBench.now.milliseconds))
        #expect(
            output.headers.dropFirst(3).filter { $0.name != "remint-not-before" } == [
                RecordHeader("remint-origin-topic", "remint.invalidations"),
                RecordHeader("remint-origin-partition", "3"),
                RecordHeader("remint-origin-offset", "7"), RecordHeader("remint-origin-timestamp", "1763639999500"),
                RecordHeader("remint-attempts", "1"), RecordHeader("remint-redrives", "0"),
                RecordHeader("remint-history", "2025-11-20T12:00:00.123456Z mint mint_failed"),
                RecordHeader("remint-first-failed-at", String(TestBench.now.milliseconds)),
            ])
    }

    @Test func `an event becomes a dead letter with its history after eight attempts`() async throws {
        let bench = try TestBench()
        let record = InputRecord.raw(SampleReport.braze(), app: "shop-ios")
        let settlements = try await fail(record, bench, times: 20)
        let tiers = [0, 1, 2, 2, 2, 2, 2].map { Outcome.deferred(tier: $0, .failed(.mintFailed)) }
        #expect(settlements.map(\.outcome) == tiers + [.deadLettered(.retriesExhausted)])
        #expect(settlements.map { $0.output?.values("remint-attempts") } == (1...8).map { [String($0)] })
        let letter = try #require(settlements.last?.output)
        #expect(letter.value == record.value)
        #expect(letter.values("remint-origin-topic") == ["remint.invalidations"])
        #expect(letter.values("remint-origin-offset") == ["7"])
        #expect(letter.values("remint-origin-timestamp") == ["1763639999500"])
        #expect(letter.values("remint-not-before").isEmpty)
        #expect(settlements.last?.detail == "after 8 attempts; the last one: mint_failed: the HSM refused")
        let history = try #require(letter.headers.text("remint-history")).split(separator: "; ")
        #expect(history.count == 8)
        #expect(history.dropLast().allSatisfy { $0.hasSuffix("Z mint mint_failed") })
        #expect(history.last?.hasSuffix("Z mint retries_exhausted") == true)
        #expect(history.sorted() == history)
        #expect(settlements.allSatisfy { $0.eventID == "remint.invalidations/3/7" })
    }

    @Test func `an event is not tried again past its deadline`() async throws {
        let policy = RetryPolicy(
            tiers: RetryPolicy.standard.tiers, maxAttempts: 100, deadline: .seconds(1000))
        let settlements = try await fail(
            .raw(SampleReport.braze(), app: "shop-ios"), try TestBench(), times: 100, retries: policy)
        // 10 s, 70 s and 670 s after the start; 1270 s would be too late.
        #expect(settlements.map(\.outcome.name) == ["deferred", "deferred", "deferred", "dead_lettered"])
        #expect(settlements.last?.outcome == .deadLettered(.retriesExhausted))
    }

    @Test func `an event that can be answered after its hops is minted under its first id`() async throws {
        let bench = try TestBench()
        var output: OutputRecord?
        for hop: Int64 in 0..<5 {
            let record = try output?.fromTier(at: bench.clock.now, offset: hop)
            let settlement = try await bench.settle(record ?? .raw(SampleReport.bloomreach(), app: "web"), Self.failing)
            output = settlement.output
            bench.clock.now = bench.clock.now.advanced(bySeconds: 700)
        }
        let settlement = try await bench.settle(try #require(output).fromTier(at: bench.clock.now))
        #expect(settlement.outcome == .minted)
        #expect(try settlement.output?.json["event_id"]?.string == "remint.invalidations/3/7")
        #expect(settlement.output?.headers.contains { $0.name.hasPrefix("remint-origin") } == false)
    }

    @Test func `an event that was long on its way still has its attempts`() async throws {
        let bench = try TestBench()
        bench.clock.now = bench.clock.now.advanced(bySeconds: 3 * 86_400)
        let settlement = try await bench.settle(.raw(SampleReport.braze(), app: "shop-ios"), Self.failing)
        #expect(settlement.outcome == .deferred(tier: 0, .failed(.mintFailed)))
    }

    @Test func `a redriven event is a new one that keeps its count of redrives over its hops`() async throws {
        let bench = try TestBench()
        let redriven = InputRecord.raw(
            SampleReport.bloomreach(), app: "web", offset: 99,
            [
                RecordHeader("remint-origin-topic", "remint.invalidations"),
                RecordHeader("remint-origin-partition", "1"),
                RecordHeader("remint-origin-offset", "42"), RecordHeader("remint-origin-timestamp", "1763639000000"),
                RecordHeader("remint-redrives", "1"),
            ])
        let first = try await bench.settle(redriven, Self.failing)
        bench.clock.now = bench.clock.now.advanced(bySeconds: 11)
        let hop = try #require(first.output).fromTier(at: bench.clock.now)
        let second = try await bench.settle(hop, Self.failing)
        for settlement in [first, second] {
            #expect(settlement.eventID == "remint.invalidations/3/99")
            #expect(settlement.output?.values("remint-origin-partition") == ["3"])
            #expect(settlement.output?.values("remint-origin-offset") == ["99"])
            #expect(settlement.output?.values("remint-origin-timestamp") == ["1763639999500"])
            #expect(settlement.output?.values("remint-redrives") == ["1"])
        }
    }

    @Test func `a challenge's deadline counts from the beginning, however often it waited`() async throws {
        let bench = try TestBench()
        let signing = ScriptedSigning(algorithm: .hs256, answer: Self.failing.answer)
        let first = try await bench.settle(.raw(SampleReport.challenge(), app: "push"), signing)
        #expect(first.outcome == .deferred(tier: 0, .failed(.mintFailed)))
        bench.clock.now = bench.clock.now.advanced(bySeconds: 296)
        let record = try #require(first.output).fromTier(at: bench.clock.now)
        #expect(try await bench.settle(record, signing).outcome == .deadLettered(.challengeExpired))
    }

    @Test func `the token minted for a later event of the same user answers the waiting one`() async throws {
        let bench = try TestBench()
        let waiting = try #require(
            try await bench.settle(.raw(SampleReport.bloomreach(), app: "web"), Self.failing).output)
        var processor = bench.processor()
        bench.clock.now = bench.clock.now.advanced(bySeconds: 5)
        let later = InputRecord.sample(
            SampleReport.bloomreach(), headers: [RecordHeader("remint-app", "web")], offset: 8,
            timestamp: bench.clock.now)
        #expect(await processor.process([later], batch: 1).map(\.outcome) == [.minted])
        bench.clock.now = bench.clock.now.advanced(bySeconds: 6)
        let again = await processor.process([try waiting.fromTier(at: bench.clock.now)], batch: 2)
        #expect(again.map(\.outcome) == [.superseded(.observedEarlier)])
    }

    @Test func `an event that waited for another's token fails for its reason, with its own attempts left`()
        async throws
    {
        let bench = try TestBench()
        let report = SampleReport.bloomreach()
        let hop = try #require(try await bench.settle(.raw(report, app: "web"), Self.failing).output)
        let headers = hop.headers.map { $0.name == "remint-attempts" ? RecordHeader($0.name, "7") : $0 }
        let last = try OutputRecord(destination: hop.destination, key: hop.key, value: hop.value, headers: headers)
            .fromTier(at: bench.clock.now)
        let signing = ScriptedSigning(algorithm: .hs512, answer: Self.failing.answer)
        var processor = bench.processor(signing)
        let fresh = InputRecord.raw(report, app: "web", offset: 9)
        let settlements = await processor.process([last, fresh])
        #expect(
            settlements.map(\.outcome) == [
                .deadLettered(.retriesExhausted), .deferred(tier: 0, .failed(.mintFailed)),
            ])
        #expect(settlements[1].output?.values("remint-attempts") == ["1"])
        #expect(settlements[1].detail == "the HSM refused")
    }
}

@Suite("The believed headers of a retry record")
struct ProvenanceTests {
    private static let told = [
        RecordHeader("remint-origin-topic", "t"), RecordHeader("remint-origin-partition", "1"),
        RecordHeader("remint-origin-offset", "2"),
        RecordHeader("remint-origin-timestamp", "1000"), RecordHeader("remint-attempts", "5"),
        RecordHeader("remint-history", "h"),
        RecordHeader("remint-not-before", "0"),
    ]

    private func letter(_ headers: [RecordHeader], lane: Lane) -> OutputRecord {
        let record = InputRecord(
            origin: RecordPosition(topic: "input", partition: 0, offset: 9), timestamp: UnixTime(milliseconds: 2000),
            key: nil,
            value: [1], headers: headers, lane: lane, tier: lane == .retries ? 0 : nil)
        return DeadLetter(record, Rejection(.mintFailed, "why"), at: .mint, on: TestBench.now).output
    }

    @Test func `a dead letter from the retry lane has the first origin, attempts and history of its headers`() {
        let letter = letter(Self.told, lane: .retries)
        #expect(letter.values("remint-origin-topic") == ["t"])
        #expect(letter.values("remint-origin-partition") == ["1"])
        #expect(letter.values("remint-origin-offset") == ["2"])
        #expect(letter.values("remint-origin-timestamp") == ["1000"])
        #expect(letter.values("remint-attempts") == ["6"])
        #expect(letter.values("remint-history") == ["h; 2025-11-20T12:00:00.123456Z mint mint_failed"])
    }

    @Test(arguments: [Lane.live, .bulk])
    func `a dead letter from another lane ignores the origin, attempts and history of its headers`(_ lane: Lane) {
        let letter = letter(Self.told, lane: lane)
        #expect(letter.values("remint-origin-topic") == ["input"])
        #expect(letter.values("remint-origin-offset") == ["9"])
        #expect(letter.values("remint-origin-timestamp") == ["2000"])
        #expect(letter.values("remint-attempts") == ["1"])
        #expect(letter.values("remint-history").isEmpty)
    }

    static let broken: [(name: String, text: String)] = [
        ("remint-origin-topic", ""), ("remint-origin-topic", String(repeating: "t", count: 250)),
        ("remint-origin-partition", ""), ("remint-origin-partition", "x"), ("remint-origin-partition", "2147483648"),
        ("remint-origin-offset", "1.0"), ("remint-origin-offset", "99999999999999999999"),
    ]

    @Test(arguments: broken)
    func `a record that lacks its origin is its own origin`(_ name: String, _ text: String) {
        let headers = Self.told.filter { $0.name != name } + [RecordHeader(name, text)]
        let letter = letter(headers, lane: .retries)
        #expect(letter.values("remint-origin-topic") == ["input"])
        #expect(letter.values("remint-origin-offset") == ["9"])
        #expect(letter.values("remint-attempts") == ["1"])
    }

    @Test func `a history keeps its latest sixteen entries, and no foreign text`() throws {
        var history = "h"
        for _ in 0..<40 {
            let headers = Self.told.dropLast(2) + [RecordHeader("remint-history", history)]
            history = try #require(letter(Array(headers), lane: .retries).headers.text("remint-history"))
        }
        #expect(history.split(separator: ";").count == 16)
        #expect(history.utf8.count < 1000)
        let tale = Self.told.dropLast(2) + [RecordHeader("remint-history", String(repeating: "x", count: 1_000_000))]
        #expect(letter(Array(tale), lane: .retries).values("remint-history").allSatisfy { ($0 ?? "").count < 100 })
    }
}
