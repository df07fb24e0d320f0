import AdapterKit
import Pipeline
import Testing

@Suite("Headers anyone may have written")
struct HostileHeaderTests {
    private static let rejection = Rejection(.malformedEvent, "why")

    @Test(arguments: ["", "many", "-1", "1e9", "99999999999999999999", String(repeating: "9", count: 100_000)])
    func `an impossible count in a header is not carried over`(_ text: String) {
        let record = InputRecord.sample(
            "x", headers: [RecordHeader("remint-attempts", text), RecordHeader("remint-redrives", text)])
        let letter = DeadLetter(record, Self.rejection, at: .admit, on: TestBench.now)
        #expect(letter.output.values("remint-attempts") == ["1"])
        #expect(letter.output.values("remint-redrives") == ["0"])
    }

    @Test func `a record without value and with large headers can still be made smaller, once`() async throws {
        let bench = try TestBench()
        let record = InputRecord.sample(nil, headers: [RecordHeader("large", [UInt8](repeating: 1, count: 2_000_000))])
        let whole = try await bench.settle(record)
        let smaller = try #require(whole.byReference(record, at: bench.clock.now))
        #expect(smaller.output?.headers.contains { $0.name == "large" } == false)
        #expect(smaller.byReference(record, at: bench.clock.now) == nil)
    }

    @Test func `a letter by reference has the stage that failed`() async throws {
        let bench = try TestBench()
        let record = InputRecord.raw(SampleReport.braze(code: 25), app: "shop-ios")
        let smaller = try #require(try await bench.settle(record).byReference(record, at: bench.clock.now))
        #expect(smaller.output?.values("remint-error-stage") == ["resolve"])
    }

    @Test func `an event whose token is too large is kept whole first, then by reference`() async throws {
        let bench = try TestBench()
        let record = InputRecord.raw(SampleReport.braze(), app: "shop-ios")
        let whole = try #require(try await bench.settle(record).byReference(record, at: bench.clock.now))
        #expect(whole.output?.value == record.value)
        #expect(whole.output?.values("remint-error-stage") == ["settle"])
        let reference = try #require(whole.byReference(record, at: bench.clock.now))
        #expect(reference.output?.value == nil)
        #expect(reference.outcome == .deadLettered(.mintFailed))
    }

    @Test func `a signature of no bytes makes no token`() async throws {
        let settlement = try await TestBench().settle(
            .raw(SampleReport.braze(), app: "shop-ios"), ScriptedSigning { $0.map { _ in .success([]) } })
        #expect(settlement.outcome == .deferred(tier: 0, .failed(.mintFailed)))
    }

    @Test func `a batch job's missing user is no anonymous one`() async throws {
        let bench = try TestBench(missingUser: .skip)
        let settlement = try await bench.settle(.sample(#"{"app":"shop-ios","reissue":{}}"#))
        #expect(settlement.outcome == .deadLettered(.missingUser))
    }

    @Test(arguments: MalformedEventTests.withoutApp)
    func `an event that names no app is of an unknown app`(_ event: MalformedEvent) async throws {
        #expect(try await TestBench().settle(event.record).outcome == .deadLettered(.unknownApp))
    }

    @Test(arguments: [
        "Application/CloudEvents+JSON", "application/cloudevents+json;charset=utf-8",
        "application/cloudevents+json ; x=y",
    ])
    func `a media type does not mind its case`(_ type: String) throws {
        let record = InputRecord.sample(
            #"{"specversion":"1.0","app":"a","data":{}}"#, headers: [RecordHeader("content-type", type)])
        #expect(try EventDecoder(maximumBytes: 1000).decode(record).envelope.app == "a")
    }

    @Test func `a media type that only begins like CloudEvents' is another`() throws {
        let record = InputRecord.sample(
            #"{"app":"a","report":{}}"#, headers: [RecordHeader("content-type", "application/cloudevents+jsonl")])
        #expect(try EventDecoder(maximumBytes: 1000).decode(record).envelope.app == "a")
    }
}
