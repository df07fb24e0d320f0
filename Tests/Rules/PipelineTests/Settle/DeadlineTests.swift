import AdapterKit
import Pipeline
import Testing

/// Dotdigital's devices wait 300 seconds for an answer, of which 5 are kept for delivery.
@Suite("Deadlines of challenges")
struct DeadlineTests {
    private func outcome(
        _ bench: TestBench, observed: UnixTime?, expiresOn: UnixTime? = nil, recorded: UnixTime? = nil
    ) async throws -> Outcome {
        let headers = observed.map { [RecordHeader("remint-observed-at", $0.description)] } ?? []
        let report = SampleReport.challenge(expiresOn: expiresOn?.description)
        return try await bench.settle(
            .sample(report, headers: [RecordHeader("remint-app", "push")] + headers, timestamp: recorded)
        ).outcome
    }

    @Test(arguments: [(294, true), (295, false), (296, false), (1_000_000, false), (0, true)])
    func `an answer is made until the last second`(_ age: Int64, _ mints: Bool) async throws {
        let bench = try TestBench()
        let observed = UnixTime(seconds: 1_763_000_000)
        bench.clock.now = observed.advanced(bySeconds: age)
        let outcome = try await outcome(bench, observed: observed)
        #expect(outcome == (mints ? .minted : .deadLettered(.challengeExpired)))
    }

    @Test func `a microsecond makes the difference`() async throws {
        let bench = try TestBench()
        let observed = UnixTime(seconds: 1_763_000_000)
        bench.clock.now = UnixTime(microseconds: observed.microseconds + 295_000_000 - 1)
        #expect(try await outcome(bench, observed: observed) == .minted)
        bench.clock.now = UnixTime(microseconds: observed.microseconds + 295_000_000)
        #expect(try await outcome(bench, observed: observed) == .deadLettered(.challengeExpired))
    }

    @Test(arguments: [(5, false), (6, true), (-1, false), (86_400, true)])
    func `the challenge's own end counts where it comes first`(_ left: Int64, _ mints: Bool) async throws {
        let bench = try TestBench()
        bench.clock.now = UnixTime(seconds: 1_763_000_000)
        let outcome = try await outcome(
            bench, observed: bench.clock.now, expiresOn: bench.clock.now.advanced(bySeconds: left))
        #expect(outcome == (mints ? .minted : .deadLettered(.challengeExpired)))
    }

    @Test func `a stated end far away does not make the device wait longer`() async throws {
        let bench = try TestBench()
        bench.clock.now = UnixTime(seconds: 1_763_000_000)
        let observed = bench.clock.now.advanced(bySeconds: -295)
        let outcome = try await outcome(bench, observed: observed, expiresOn: bench.clock.now.advanced(bySeconds: 3600))
        #expect(outcome == .deadLettered(.challengeExpired))
    }

    @Test func `a producer's clock that runs ahead stretches no deadline`() async throws {
        let bench = try TestBench()
        let arrived = UnixTime(seconds: 1_763_000_000)
        bench.clock.now = arrived
        // Whatever lies in the future counts as now, and now only.
        for ahead: Int64 in [1, 3600, 1_000_000_000_000] {
            #expect(try await outcome(bench, observed: arrived.advanced(bySeconds: ahead)) == .minted)
            let stated = try await outcome(
                bench, observed: arrived.advanced(bySeconds: ahead), expiresOn: arrived.advanced(bySeconds: 4))
            #expect(stated == .deadLettered(.challengeExpired))
        }
    }

    @Test func `the record's own time counts if there is no observed time`() async throws {
        let bench = try TestBench()
        let recorded = bench.clock.now.advanced(bySeconds: -300)
        #expect(try await outcome(bench, observed: nil, recorded: recorded) == .deadLettered(.challengeExpired))
        #expect(try await outcome(bench, observed: nil, recorded: bench.clock.now) == .minted)
        #expect(try await outcome(bench, observed: nil, recorded: nil) == .minted)
    }

    @Test func `a vendor without challenges has no deadline`() async throws {
        let bench = try TestBench()
        let record = InputRecord.raw(
            SampleReport.braze(), app: "shop-ios", [RecordHeader("remint-observed-at", "1999-12-31T23:59:59Z")])
        #expect(try await bench.settle(record).outcome == .minted)
    }
}
