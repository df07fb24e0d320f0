import AdapterKit
import Pipeline
import Testing

@Suite("Events of a suspended app")
struct SuspendedAppTests {
    private static func rejected(_ user: String, offset: Int64) -> InputRecord {
        .raw(
            SampleReport.bloomreach(id: user, code: "TOKEN_REJECTED"), app: "web", offset: offset,
            [RecordHeader("remint-device", "phone of \(user)")])
    }

    /// A processor for which two users have just refused their tokens, so that `web` is suspended.
    private func suspended(_ bench: TestBench) async throws -> BatchProcessor {
        var processor = bench.processor(
            admission: AdmissionRules(usersToSuspend: 2, minimumAge: .seconds(1)))
        let reports = ["ann", "bob"].enumerated().map { Self.rejected($1, offset: Int64($0)) }
        #expect(await processor.process(reports, batch: 1).map(\.outcome) == [.minted, .minted])
        processor.confirm(throughBatch: 1)
        bench.clock.now = bench.clock.now.advanced(bySeconds: 10)
        let again = ["ann", "bob"].enumerated().map { index, user in
            InputRecord.sample(
                SampleReport.bloomreach(id: user, code: "TOKEN_REJECTED"),
                headers: [RecordHeader("remint-app", "web"), RecordHeader("remint-device", "phone of \(user)")],
                offset: Int64(index + 2), timestamp: bench.clock.now)
        }
        let settlements = await processor.process(again, batch: 2)
        #expect(settlements.map(\.outcome) == [.deadLettered(.rejectedByVendor), .deadLettered(.rejectedByVendor)])
        #expect(settlements.first?.output?.values("remint-error-stage") == ["admit"])
        #expect(settlements.first?.output?.values("remint-refused-key-id") == ["data-1"])
        #expect(settlements.first?.output?.values("remint-refused-key-ring") == ["shop-data"])
        let subjects = settlements.flatMap { $0.output?.values("remint-refused-subject") ?? [] }
        #expect(subjects.count == 2 && subjects.allSatisfy { $0?.hasPrefix("web/") == true })
        #expect(settlements.first?.detail?.contains("version data-1 of shop-data") == true)
        bench.clock.now = bench.clock.now.advanced(bySeconds: 1)
        processor.checkSuspensions()
        return processor
    }

    @Test func `wait in longer and longer tiers without counting attempts, and end after the deadline`() async throws {
        let bench = try TestBench()
        var processor = try await suspended(bench)
        // An operator's pause lets no probe through.
        processor.hold(Suspension(app: "web", cause: .paused, since: bench.clock.now), of: "web")
        var record = Self.rejected("cid", offset: 9)
        for hop in 0..<24 {
            let settlement = try #require(await processor.process([record], batch: 3 + hop).first)
            #expect(settlement.outcome == .deferred(tier: min(hop, 2), .appSuspended))
            let output = try #require(settlement.output)
            #expect(output.values("remint-attempts") == ["0"])
            #expect(output.values("remint-origin-offset") == ["9"])
            #expect(output.headers.text("remint-history")?.hasSuffix("Z admit app_suspended") == true)
            bench.clock.now = bench.clock.now.advanced(bySeconds: 3600)
            record = try output.fromTier(at: bench.clock.now)
        }
        bench.clock.now = bench.clock.now.advanced(bySeconds: 3600)
        let late = try #require(await processor.process([record], batch: 40).first)
        #expect(late.outcome == .deadLettered(.appSuspended))
        #expect(late.output?.values("remint-error-stage") == ["admit"])
    }

    @Test func `events of a suspended app raise one alarm, and other apps go on`() async throws {
        let bench = try TestBench()
        var processor = try await suspended(bench)
        let suspension = try #require(processor.suspensions.first)
        #expect(suspension.app == "web")
        #expect(suspension.users == 2)
        #expect(processor.takeAlarms() == [.suspendedHere(suspension)])
        let settlements = await processor.process(
            [Self.rejected("cid", offset: 9), .raw(SampleReport.challenge(), app: "push", offset: 10)], batch: 3)
        #expect(settlements.map(\.outcome.name) == ["deferred", "minted"])
        #expect(processor.takeAlarms().isEmpty)
    }

    @Test func `events of a paused app are answered when the pause ends`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: AdmissionRules())
        let now = bench.clock.now
        let pause = Suspension(app: "web", cause: .paused, since: now, until: now.advanced(bySeconds: 60))
        for _ in 0..<2 { processor.hold(pause, of: "web") }
        #expect(processor.takeAlarms() == [.told(pause)])
        let waiting = await processor.process([Self.rejected("ann", offset: 1)], batch: 1)
        #expect(waiting.map(\.outcome) == [.deferred(tier: 0, .appSuspended)])
        bench.signing.activate(bench.dataKey, in: "shop-data", version: "data-2")
        bench.clock.now = now.advanced(bySeconds: 59)
        processor.checkSuspensions()
        #expect(processor.suspensions == [pause], "another key ends no pause")
        bench.clock.now = now.advanced(bySeconds: 60)
        for _ in 0..<2 { processor.checkSuspensions() }
        #expect(processor.takeAlarms() == [.resumed(pause, .elapsed)])
        processor.hold(pause, of: "web")
        #expect(processor.takeAlarms().isEmpty, "a record that was over before it was read changes nothing")
        let answered = await processor.process([Self.rejected("bob", offset: 2)], batch: 2)
        #expect(answered.map(\.outcome) == [.minted])
    }

    @Test func `pauses in a history are reported as far as they hold at its end`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: AdmissionRules())
        let now = bench.clock.now
        let first = Suspension(app: "web", cause: .paused, since: now, why: "once")
        let other = Suspension(app: "push", cause: .paused, since: now, why: "once")
        let again = Suspension(app: "web", cause: .paused, since: now, why: "again")
        let over = Suspension(app: "push", cause: .paused, since: now, until: now)
        processor.hold(other, of: "push")
        for _ in 0..<2 {
            processor.takeHistory { processor in
                for pause in [first, nil, again] { processor.hold(pause, of: "web") }
                for pause in [other, nil, over] { processor.hold(pause, of: "push") }
            }
        }
        // What was to be told before goes first, and what a second reading finds is known.
        #expect(processor.takeAlarms() == [.told(other), .told(again), .resumed(other, .told)])
        #expect(processor.suspensions == [again])
    }

    @Test func `states of apps that are not configured are bounded, and those of configured apps apply`() throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: AdmissionRules())
        func pause(_ app: String, for seconds: Int64? = nil) -> Suspension {
            let now = bench.clock.now
            return Suspension(app: app, cause: .paused, since: now, until: seconds.map { now.advanced(bySeconds: $0) })
        }
        for number in 0..<3000 { processor.hold(pause("x\(number)"), of: "x\(number)") }
        processor.hold(pause("web"), of: "web")
        #expect(processor.suspensions.count == 101)
        #expect(processor.suspensions.contains { $0.app == "web" })
        #expect(processor.takeAlarms().count == 101)
        // What is over makes room, by an operator or by its end.
        processor.hold(nil, of: "x0")
        processor.hold(pause("y"), of: "y")
        processor.hold(pause("z"), of: "z")
        #expect(processor.suspensions.map(\.app).filter { ["x0", "y", "z"].contains($0) } == ["y"])
        processor.hold(pause("y", for: 1), of: "y")
        bench.clock.now = bench.clock.now.advanced(bySeconds: 2)
        processor.checkSuspensions()
        processor.hold(pause("z"), of: "z")
        #expect(processor.suspensions.map(\.app).filter { ["x0", "y", "z"].contains($0) } == ["z"])
    }

    @Test func `a ring without a key ends no suspension`() async throws {
        let bench = try TestBench()
        var processor = try await suspended(bench)
        bench.signing.deactivate("shop-data")
        let without = await processor.process([Self.rejected("cid", offset: 9)], batch: 3)
        #expect(without.map(\.outcome) == [.deferred(tier: 0, .failed(.keyUnavailable))])
        #expect(processor.suspensions.map(\.app) == ["web"])
    }
}
