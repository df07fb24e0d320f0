import AdapterKit
import Pipeline
import Testing

@Suite("Dead letters")
struct DeadLetterTests {
    private static let rejection = Rejection(.malformedEvent, "why")

    @Test func `headers stay as they came, in order, repeated, null and binary`() {
        let headers = [
            RecordHeader("a", "1"), RecordHeader("a", "2"), RecordHeader("b", nil), RecordHeader("", [0xFF, 0x00]),
            RecordHeader("remint-app", "shop-ios"),
            RecordHeader("remint-not-after", "later"), RecordHeader("Remint-Error-Code", "another name"),
            RecordHeader("traceparent", "00-1"),
        ]
        let letter = DeadLetter(.sample("x", headers: headers), Self.rejection, at: .resolve, on: TestBench.now)
        #expect(Array(letter.output.headers.prefix(headers.count)) == headers)
        #expect(letter.output.headers.count == headers.count + 10)
    }

    @Test func `headers of an earlier death are replaced, every one of them`() {
        let old = [
            "remint-error-code", "remint-error-stage", "remint-error-detail", "remint-origin-topic",
            "remint-origin-partition",
            "remint-origin-offset", "remint-origin-timestamp", "remint-attempts", "remint-redrives", "remint-failed-at",
        ]
        let goes = [
            "remint-origin-value-bytes", "remint-not-before", "remint-history", "remint-refused-key-id",
            "remint-refused-key-ring", "remint-refused-subject",
        ]
        let headers =
            (old + goes).flatMap { [RecordHeader($0, "old"), RecordHeader($0, "older")] } + [
                RecordHeader("kept", "yes")
            ]
        let letter = DeadLetter(.sample("x", headers: headers), Self.rejection, at: .resolve, on: TestBench.now)
        #expect(letter.output.headers.first == RecordHeader("kept", "yes"))
        #expect(!letter.output.headers.contains { $0.text?.hasPrefix("old") == true })
        for name in old { #expect(letter.output.values(name).count == 1) }
        for name in goes { #expect(letter.output.values(name).isEmpty) }
    }

    @Test func `a fresh event's dead letter keeps its count of redrives and has one attempt`() {
        let record = InputRecord.sample(
            "x", headers: [RecordHeader("remint-attempts", "5"), RecordHeader("remint-redrives", "2")])
        let letter = DeadLetter(record, Self.rejection, at: .admit, on: TestBench.now)
        #expect(letter.output.values("remint-attempts") == ["1"])
        #expect(letter.output.values("remint-redrives") == ["2"])
    }

    @Test func `a letter that dies again has its new place`() async throws {
        let bench = try TestBench()
        let first = try #require(try await bench.settle(.raw("{", app: "shop-ios", offset: 1)).output)
        let again = InputRecord(
            origin: RecordPosition(topic: "remint.invalidations.bulk", partition: 0, offset: 99), timestamp: nil,
            key: first.key,
            value: first.value, headers: first.headers)
        let second = try #require(try await bench.settle(again).output)
        #expect(second.value == first.value)
        #expect(second.values("remint-app") == ["shop-ios"])
        #expect(second.values("remint-origin-topic") == ["remint.invalidations.bulk"])
        #expect(second.values("remint-origin-offset") == ["99"])
        #expect(second.values("remint-origin-timestamp") == [""])
        #expect(second.headers.count == first.headers.count)
    }

    @Test func `a letter by reference has the record's place and size`() {
        let record = InputRecord.sample(
            [UInt8](repeating: 7, count: 3_000_000),
            headers: [RecordHeader("large", [UInt8](repeating: 1, count: 100_000))])
        let reference = DeadLetter(record, Self.rejection, at: .decode, on: TestBench.now).reference
        #expect(reference.destination == .deadLetters)
        #expect(reference.value == nil)
        #expect(reference.key == record.key)
        #expect(reference.values("remint-origin-value-bytes") == ["3000000"])
        #expect(reference.values("remint-origin-offset") == ["7"])
        #expect(reference.values("remint-error-code") == ["malformed_event"])
        #expect(reference.headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) } < 1024)
    }

    @Test(arguments: [(1024, true), (1025, false)])
    func `a letter by reference keeps a key of up to a kilobyte`(_ length: Int, _ isKept: Bool) {
        let record = InputRecord.sample("x", key: String(repeating: "k", count: length))
        let reference = DeadLetter(record, Self.rejection, at: .decode, on: TestBench.now).reference
        #expect((reference.key != nil) == isKept)
    }

    @Test func `a settlement by reference keeps its outcome and points at the record`() async throws {
        let bench = try TestBench()
        let record = InputRecord.raw(String(repeating: "x", count: 5000), app: "shop-ios")
        let whole = try await bench.settle(record)
        let smaller = try #require(whole.byReference(record, at: bench.clock.now))
        #expect(smaller.outcome == whole.outcome)
        #expect(smaller.origin == whole.origin)
        #expect(smaller.detail == whole.detail)
        #expect(smaller.output?.value == nil)
        #expect(smaller.output?.values("remint-error-code") == ["malformed_event"])
        #expect(smaller.output?.values("remint-origin-value-bytes") == ["5000"])
        #expect(smaller.byReference(record, at: bench.clock.now) == nil, "it cannot get any smaller")
    }

    @Test func `a token that its topic refuses ends as a dead letter`() async throws {
        let bench = try TestBench()
        let record = InputRecord.raw(SampleReport.braze(), app: "shop-ios")
        let minted = try await bench.settle(record)
        let settlement = try #require(minted.byReference(record, at: bench.clock.now))
        #expect(settlement.outcome == .deadLettered(.mintFailed))
        #expect(settlement.output?.destination == .deadLetters)
        #expect(settlement.app == "shop-ios")
        let skipped = try await bench.settle(.raw(#"{"errorCode":22,"userId":null}"#, app: "shop-ios"))
        #expect(skipped.byReference(record, at: bench.clock.now) == nil)
    }
}
