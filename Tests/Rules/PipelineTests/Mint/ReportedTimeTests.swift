import AdapterKit
import Testing

@testable import Pipeline

@Suite("The time of the first report that a token answers")
struct ReportedTimeTests {
    private static let header = "remint-reported-at"
    /// The time at which the sample records are produced, in milliseconds.
    private static let produced: Int64 = 1_763_639_999_500

    private static func report(
        _ user: String = "user-42", token: String = "e30", producedAt produced: Int64? = produced,
        observed: String? = nil, offset: Int64 = 7
    ) -> InputRecord {
        var headers = [RecordHeader("remint-app", "shop-ios")]
        if let observed { headers.append(RecordHeader("remint-observed-at", observed)) }
        return .sample(
            SampleReport.braze(user: user, token: token), headers: headers, offset: offset,
            timestamp: produced.map { UnixTime(milliseconds: $0) })
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let record: InputRecord
        /// In milliseconds; nil where no report has a believable time.
        let reportedAt: Int64?

        init(_ name: String, _ record: InputRecord, _ reportedAt: Int64?) {
            testDescription = name
            self.record = record
            self.reportedAt = reportedAt
        }
    }

    static let cases = [
        Case("no time in the report: the record's time", report(), produced),
        Case("observed before it was produced", report(observed: "2025-11-20T11:59:50.250Z"), 1_763_639_990_250),
        Case("a clock an hour behind counts for a minute", report(observed: "2025-11-20T11:00:00Z"), produced - 60_000),
        Case("a clock ahead of the worker's is now", report(observed: "2025-11-20T12:00:30Z"), 1_763_640_000_123),
        Case("a record ahead of the worker's clock", report(producedAt: produced + 5000), 1_763_640_000_123),
        Case("a device's clock alone", report(producedAt: nil, observed: "2025-11-20T11:59:50Z"), nil),
        Case("no time at all", report(producedAt: nil), nil),
        Case("nobody reported anything", .sample(#"{"app":"shop-ios","reissue":{"user":"user-42"}}"#), nil),
    ]

    @Test(arguments: cases) func `the time of the report is in the token's record`(_ given: Case) async throws {
        let settlement = try await TestBench().settle(given.record)
        let output = try #require(settlement.output)
        #expect(settlement.outcome == .minted)
        #expect(output.values(Self.header) == given.reportedAt.map { ["\($0)"] } ?? [])
        #expect(settlement.reportedAt?.milliseconds == given.reportedAt)
        #expect(try PublishedToken(output.body, at: TestBench.now).reportedAt?.milliseconds == given.reportedAt)
    }

    @Test func `the time of the report is in a sealed token's record too`() async throws {
        let bench = try TestBench(seal: SealRecipient.of(.ecdhESA256KW).seal)
        let output = try #require(try await bench.settle(Self.report()).output)
        #expect(output.values(Self.header) == ["\(Self.produced)"] && output.body.has("remint-seal"))
    }

    @Test func `an event that waited for another try keeps its own`() async throws {
        let bench = try TestBench()
        let signing = CountingSigning()
        var processor = bench.processor(signing)
        signing.isFailing = true
        var record = Self.report()
        for _ in 0..<2 {
            let waits = try #require(await processor.process([record]).first)
            if case .deferred = waits.outcome {} else { Issue.record("\(waits.outcome)") }
            #expect(waits.reportedAt == nil)
            bench.clock.now = bench.clock.now.advanced(bySeconds: 700)
            record = try #require(waits.output).fromTier(at: bench.clock.now)
        }
        signing.isFailing = false
        let minted = try #require(await processor.process([record]).first)
        #expect(minted.output?.values(Self.header) == ["\(Self.produced)"])
    }

    @Test func `the earliest of a batch's reports sets the token's time of report`() async throws {
        var processor = try TestBench().processor(CountingSigning())
        let ends = await processor.process([
            Self.report(producedAt: Self.produced, offset: 1), Self.report(producedAt: Self.produced - 9000, offset: 2),
            Self.report(producedAt: Self.produced - 4000, offset: 3), Self.report("another", offset: 4),
        ])
        #expect(ends.map { $0.reportedAt?.milliseconds } == [Self.produced - 9000, nil, nil, Self.produced])
        #expect(ends[0].output?.values(Self.header) == ["\(Self.produced - 9000)"])
    }

    @Test func `a request for a token is as old as the report beside it`() async throws {
        var processor = try TestBench().processor(CountingSigning())
        let ends = await processor.process([
            .sample(#"{"app":"shop-ios","reissue":{"user":"user-42"}}"#), Self.report(offset: 8),
        ])
        #expect(ends.map { $0.reportedAt?.milliseconds } == [Self.produced, nil])
    }

    @Test func `a report answered by an earlier token does not date the next failure back`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(CountingSigning())
        _ = await processor.process([Self.report(offset: 1)], batch: 1)
        processor.confirm(throughBatch: 1)
        bench.clock.now = bench.clock.now.advanced(bySeconds: 3600)
        let now = bench.clock.now.milliseconds
        let ends = await processor.process(
            [
                Self.report(token: "e31", producedAt: now - 100, offset: 2),
                Self.report(producedAt: Self.produced, offset: 3),
            ], batch: 2
        )
        #expect(ends.map(\.outcome) == [.minted, .superseded(.sameBatch)])
        #expect(ends[0].reportedAt?.milliseconds == now - 100)
    }
}
