import AdapterKit
import BloomreachAdapter
import Pipeline
import Testing

/// A customer with several ids, any of which a report may name.
@Suite("A vouched customer's ids")
struct NamedIdsTests {
    private static let names = ["card", "email", "loyalty", "phone", "registered"]

    /// A report that names the ids of `user` in `subset`, a bit each, beside all ids that the edge vouches for.
    private static func report(
        _ user: String, _ subset: Int, _ code: String, offset: Int64, at time: UnixTime
    ) -> InputRecord {
        func ids(_ names: [String]) -> String { names.map { #""\#($0)":"\#(user)""# }.joined(separator: ",") }
        let named = names.enumerated().filter { subset & 1 << $0.offset != 0 }.map(\.element)
        return InputRecord.sample(
            #"{"errorCode":"\#(code)","customerIds":{\#(ids(named))}}"#,
            headers: [
                RecordHeader("remint-app", "web"), RecordHeader("remint-device", "phone of \(user)"),
                RecordHeader("remint-vouched", #"{"ids":{\#(ids(names))}}"#),
            ], offset: offset, timestamp: time)
    }

    @Test func `one customer with five ids is one user, whichever of them its reports name`() async throws {
        let clock = ManualClock(TestBench.now)
        let signing = InMemorySigning()
        signing.activate(try SigningKey.generate(.hs512, keyID: "k"), in: "ring")
        let adapter = try BloomreachAdapter(settings: .init(mode: .stream, ids: Self.names))
        var processor = BatchProcessor(
            apps: [App(name: "web", adapter: adapter, keyRing: "ring", lifetime: 900, identity: .vouched)],
            signing: signing, maximumEventBytes: 1 << 16,
            admission: AdmissionRules(subjects: 1000, usersToSuspend: 20, minimumAge: .seconds(1)),
            random: SeededGenerator(seed: 1), now: { clock.now })
        let honest = (1...25).map { "user-\($0)" }
        let first =
            honest.enumerated().map { Self.report($1, 31, "TOKEN_EXPIRED", offset: Int64($0), at: clock.now) }
            + (1...31).map { Self.report("eve", $0, "TOKEN_EXPIRED", offset: 100 + Int64($0), at: clock.now) }
        let ends = await processor.process(first, batch: 1)
        #expect(ends.count { $0.outcome == .minted } == 26)
        #expect(ends.suffix(30).allSatisfy { $0.outcome == .superseded(.sameBatch) })
        let keys = Set(ends.suffix(31).compactMap { $0.output?.key })
        #expect(keys == [Array("web/card=eve/email=eve/loyalty=eve/phone=eve/registered=eve".utf8)])
        processor.confirm(throughBatch: 1)

        clock.now = clock.now.advanced(bySeconds: 10)
        for subset in 1...31 {
            let refusal = Self.report("eve", subset, "TOKEN_REJECTED", offset: 200 + Int64(subset), at: clock.now)
            let end = await processor.process([refusal], batch: 1 + subset)
            #expect(end.map(\.outcome) == [.deadLettered(.rejectedByVendor)])
        }
        clock.now = clock.now.advanced(bySeconds: 2)
        processor.checkSuspensions()
        #expect(processor.suspensions.isEmpty)
        let counts = processor.refusalCounts()["web"]
        #expect(counts?.refusing == 1 && counts?.minted == 26)
    }
}
