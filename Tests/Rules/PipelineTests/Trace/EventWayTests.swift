import AdapterKit
import Spans
import Testing

@testable import Pipeline

@Suite("The trace of an event") struct EventWayTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private let port = RecordedSpans()

    /// The event of `record`, followed.
    private func followed(_ record: InputRecord, _ bench: TestBench) throws -> InputRecord {
        let clock = bench.clock
        let tracing = EventTracing(to: port, maximumEventBytes: 1 << 20, now: { clock.now })
        let trace = tracing.begin(
            record.body, at: record.origin, lane: record.lane, producedAt: record.timestamp)
        return InputRecord(
            origin: record.origin, timestamp: record.timestamp, body: record.body, lane: record.lane,
            tier: record.tier, trace: trace)
    }

    private func report(_ user: String = "user-42", offset: Int64 = 7, traceparent: String? = parent) -> InputRecord {
        let headers = traceparent.map { [RecordHeader("traceparent", $0), RecordHeader("tracestate", "a=1")] } ?? []
        return .raw(SampleReport.braze(user: user), app: "shop-ios", offset: offset, headers)
    }

    private func processor(_ bench: TestBench, _ signing: (any SigningPort)? = nil) -> BatchProcessor {
        let clock = bench.clock
        return BatchProcessor(
            apps: bench.apps, signing: signing ?? bench.signing, maximumEventBytes: 1 << 20,
            spans: port, random: SeededGenerator(seed: 1), now: { clock.now })
    }

    /// Records that `records` came to `settlements` in a commit.
    private func commit(_ records: [InputRecord], _ settlements: [Settlement], failure: String? = nil) {
        var batch = Batch(number: 1, records: records, waiting: .over)
        batch.settlements = settlements
        let unit = CommitUnit(batches: [batch], offsets: PerLane { _ in [:] })
        EventTracing(to: port, maximumEventBytes: 1 << 20, now: { TestBench.now }).ended(
            unit, failure: failure, from: TestBench.now, to: TestBench.now.advanced(bySeconds: 1)
        ) { destination in
            switch destination {
            case .tokens: "tokens"
            case .deadLetters: "dead"
            case .retries(let tier): "retries.\(tier)"
            }
        }
    }

    @Test func `a token carries the context of the span that published it`() async throws {
        let bench = try TestBench()
        let records = [
            try followed(report(), bench), try followed(report("user-43", offset: 8), bench),
            report("user-44", offset: 9, traceparent: nil),
        ]
        var processor = processor(bench)
        let settlements = await processor.process(records)
        commit(records, settlements)

        let own = try #require(records[0].trace)
        let publish = try #require(port.named("publish tokens").first { $0.parent == own.context })
        let token = try #require(settlements[0].output)
        #expect(token.values("traceparent") == [publish.context.traceparent])
        #expect(token.values("tracestate") == ["a=1"])
        #expect(settlements[2].output?.values("traceparent") == [])

        let process = try #require(port.named("process remint.invalidations").first { $0.context == own.context })
        #expect(process.parent?.traceparent == Self.parent && process.kind == .consumer && process.status == .unset)
        #expect(process.attributes.contains(EndedSpan.Attribute("remint.outcome", .text("minted"))))
        #expect(process.attributes.contains(EndedSpan.Attribute("remint.app", .text("shop-ios"))))
        #expect(publish.kind == .producer)

        // Three shared spans, linked with both events; each event's own part is linked with them.
        let events = try Set(records.prefix(2).map { try #require($0.trace).context })
        for (shared, part) in [("commit", "publish tokens"), ("sign", "sign")] {
            let span = try #require(port.named(shared).first { !$0.links.isEmpty && Set($0.links) == events })
            #expect(span.context.traceID != own.context.traceID)
            #expect(port.named(part).filter { $0.links == [span.context] }.count == 2)
        }
        let batch = try #require(port.named("batch").first)
        #expect(Set(batch.links) == events && port.named("batch").count == 1)
        #expect(batch.attributes == [EndedSpan.Attribute("messaging.batch.message_count", .integer(3))])
        for span in port.all {
            #expect(!"\(span)".contains("user-4") && !"\(span)".contains("eyJ"), "\(span.name)")
        }
    }

    @Test func `an event that nobody follows makes no span`() async throws {
        let bench = try TestBench()
        let record = report(traceparent: String(Self.parent.dropLast(2)) + "00")
        var processor = processor(bench)
        let settlements = await processor.process([record, report("user-43", offset: 8, traceparent: nil)])
        commit([record], settlements)
        #expect(settlements[0].output?.values("traceparent") == [String(Self.parent.dropLast(2)) + "00"])
        #expect(settlements[0].output?.values("tracestate") == ["a=1"])
        #expect(port.contexts == 0 && port.all.isEmpty)
    }

    @Test func `an event that is tried again stays in its trace`() async throws {
        let bench = try TestBench()
        let record = try followed(report(), bench)
        let failing = ScriptedSigning { $0.map { _ in .failure(Rejection(.mintFailed, "the HSM refused")) } }
        var processor = processor(bench, failing)
        let settlements = await processor.process([record])
        commit([record], settlements)
        let output = try #require(settlements[0].output)
        let publish = try #require(port.named("publish retries.0").first)
        #expect(output.values("traceparent") == [publish.context.traceparent])
        #expect(output.values("tracestate") == ["a=1"])
        #expect(port.named("process remint.invalidations").first?.status == .failed("mint_failed"))

        let again = try followed(output.fromTier(at: bench.clock.now), bench)
        #expect(again.trace?.parent == publish.context)
        #expect(port.named("retry remint.retries.0").first?.parent == publish.context)
        #expect(again.trace?.context.traceID == record.trace?.context.traceID)
    }

    @Test func `an abort ends no event, and its span has the reason`() async throws {
        let bench = try TestBench()
        let record = try followed(report(), bench)
        var processor = processor(bench)
        let settlements = await processor.process([record])
        commit([record], settlements, failure: "aborted")
        #expect(port.named("commit").map(\.status) == [.failed("aborted")])
        #expect(port.named("publish tokens").isEmpty && port.named("process remint.invalidations").isEmpty)
        commit([record], settlements)
        #expect(port.named("process remint.invalidations").count == 1)
    }

    @Test func `a dead letter carries the trace on`() async throws {
        let bench = try TestBench()
        let record = try followed(
            .raw("no JSON", app: "shop-ios", [RecordHeader("traceparent", Self.parent)]), bench)
        var processor = processor(bench)
        let settlements = await processor.process([record])
        commit([record], settlements)
        let publish = try #require(port.named("publish dead").first)
        #expect(settlements[0].output?.values("traceparent") == [publish.context.traceparent])
        #expect(port.named("process remint.invalidations").first?.status == .failed("malformed_event"))
    }

    @Test func `a look-up lasts from the first question to the answer`() throws {
        let bench = try TestBench()
        let record = try followed(report(), bench)
        let trace = try #require(record.trace)
        var waits = LookupWaits()
        let time = TestBench.now
        for (answer, seconds) in [
            (.expected(time), 0), (.expected(time), 1), (.failed(LookupFailure(.unavailable, "hunter2")), 2),
            (.known(.exists(Enrichment())), 3),
        ] as [(LookupScheduler.Answer, Int64)] {
            waits.heard(answer, of: "shop", record.origin, trace, at: time.advanced(bySeconds: seconds))
        }
        let spans = port.named("look-up")
        #expect(spans.map(\.status) == [.failed("unavailable"), .unset])
        #expect(spans.map { $0.end.microseconds(since: $0.start) } == [2_000_000, 0])
        #expect(spans.allSatisfy { $0.parent == trace.context && $0.kind == .client })
        #expect(spans[1].attributes.contains(EndedSpan.Attribute("remint.lookup.answer", .text("exists"))))
        #expect(!"\(spans)".contains("hunter2"))
    }
}
