import AdapterKit
import Testing

@testable import Pipeline

@Suite("Clocks that are wrong")
struct ClockTests {
    @Test(arguments: [
        (0, 0), (30, 30), (60, 60), (61, 60), (3600, 60), (-30, -30), (-60, -60), (-3600, -60), (-100_000_000, -60),
    ])
    func `a device's clock is believed within a minute of the record's timestamp`(_ skew: Int64, _ believed: Int64) {
        let produced = UnixTime(seconds: 1_763_640_000)
        let now = produced.advanced(bySeconds: 86_400)
        let observed = ObservedTime.believed(produced.advanced(bySeconds: skew), producedAt: produced, at: now)
        #expect(observed == produced.advanced(bySeconds: believed))
    }

    @Test func `the device's clock counts alone if the record has no timestamp`() {
        let observed = UnixTime(seconds: 7)
        #expect(ObservedTime.believed(observed, producedAt: nil, at: TestBench.now) == observed)
    }

    /// A device's clock, a producer's, or both.
    @Test(arguments: [(0, 1800), (1800, 0), (1800, 1800), (-3600, 1800), (1800, -3600), (.max, .max)])
    func `nothing was observed after now`(_ device: Int64, _ producer: Int64) {
        let now = TestBench.now
        let observed = ObservedTime.believed(
            now.advanced(bySeconds: device), producedAt: now.advanced(bySeconds: producer), at: now)
        #expect(observed <= now)
        #expect(ObservedTime.believed(now.advanced(bySeconds: device), producedAt: nil, at: now) <= now)
    }

    /// With the producer's time as the observed one, each report would look newer than the token that answers it.
    @Test(arguments: [1800, 3600, 86_400])
    func `eight reports of one failure cost a signature, however far a producer's clock is ahead`(
        _ ahead: Int64
    ) async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        var ends: [Settlement] = []
        for number in 1...8 {
            let record = InputRecord.sample(
                SampleReport.braze(), headers: [RecordHeader("remint-app", "shop-ios")], offset: Int64(number),
                timestamp: bench.clock.now.advanced(bySeconds: ahead))
            ends += await processor.process([record], batch: number)
            bench.clock.now = bench.clock.now.advanced(bySeconds: 1)
        }
        let minted = ends.filter { $0.outcome == .minted }
        #expect(ends.count == 8 && minted.count == 1)
        for token in minted {
            let reported = try #require(token.reportedAt)
            #expect(reported <= bench.clock.now)
        }
    }

    /// An hour behind, every failure would look older than the token that answers it.
    @Test func `a device whose clock is an hour slow gets its next token`() async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        func report(_ offset: Int64) -> InputRecord {
            let slow = bench.clock.now.advanced(bySeconds: -3600).description
            return InputRecord.sample(
                #"{"app":"shop-ios","report":\#(SampleReport.braze(token: "t.\(offset).x")),"observed_at":"\#(slow)"}"#,
                offset: offset,
                timestamp: bench.clock.now)
        }
        #expect(await processor.process([report(1)], batch: 1).map(\.outcome) == [.minted])
        bench.clock.now = bench.clock.now.advanced(bySeconds: 600)
        #expect(await processor.process([report(2)], batch: 2).map(\.outcome) == [.minted])
    }

    /// A worker whose clock was set back an hour would else take every report of that hour for an old one.
    @Test func `a mint from the future is forgotten, and its version is not`() async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        func report(_ offset: Int64) -> InputRecord {
            .sample(
                SampleReport.braze(), headers: [RecordHeader("remint-app", "shop-ios")], offset: offset,
                timestamp: bench.clock.now)
        }
        bench.clock.now = TestBench.now.advanced(bySeconds: 3600)
        let ahead = try #require(await processor.process([report(1)], batch: 1).first)
        bench.clock.now = TestBench.now.advanced(bySeconds: 10)
        let back = try #require(await processor.process([report(2)], batch: 2).first)
        #expect(ahead.outcome == .minted && back.outcome == .minted)
        let versions = try [ahead, back].map { try #require(try $0.output?.json["version"]?.integer) }
        #expect(versions[0] < versions[1])
    }

    /// The floor is what the one before committed; the next goes on above it, whatever its clock shows.
    @Test(arguments: [0, 1, -1, 3600, -3600, 86_000, -86_000])
    func `versions grow over a hand-over between any two clocks`(_ skew: Int64) async throws {
        let bench = try TestBench()
        var floor: Int64 = 0
        var versions: [Int64] = []
        for (number, seconds) in [0, skew, 1, skew + 1, 2].enumerated() {
            bench.clock.now = TestBench.now.advanced(bySeconds: seconds)
            var worker = bench.processor(admission: .off)
            worker.raiseVersions(above: floor)
            for batch in 1...3 {
                let settlements = await worker.process(
                    [.raw(SampleReport.braze(), app: "shop-ios", offset: Int64(number * 3 + batch))], batch: batch)
                versions += try settlements.map { try #require(try $0.output?.json["version"]?.integer) }
            }
            floor = worker.highestVersion(throughBatch: 3)
        }
        #expect(versions.count == 15)
        #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 })
    }
}
