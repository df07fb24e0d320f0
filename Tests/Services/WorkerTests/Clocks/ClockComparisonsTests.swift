import AdapterKit
import AsyncTestSupport
import Logging
import Telemetry
import Testing

@testable import Kafka
@testable import Worker

@Suite("The worker's clock among others") struct ClockComparisonsTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    /// Compares `count` samples, a second apart, on a clock that is `lead` seconds ahead of the true time.
    private func compare(
        _ count: Int = 3, lead: Int64, _ watch: ClockWatch = ClockWatch(),
        _ sample: (UnixTime, ContinuousClock.Instant) -> ClockWatch.Sample
    ) -> [ClockWatch.Result] {
        let begin = ContinuousClock.now
        return (0..<count).map { second in
            let truth = Self.now.advanced(bySeconds: Int64(second))
            let instant = begin + .seconds(second)
            return Self.compare(watch, sample(truth, instant), at: truth.advanced(bySeconds: lead), instant)
        }
    }

    private static func compare(
        _ watch: ClockWatch, _ sample: ClockWatch.Sample, at now: UnixTime, _ instant: ContinuousClock.Instant = .now
    ) -> ClockWatch.Result {
        watch.record(sample, at: now, instant)
        return watch.result(at: now, instant)
    }

    @Test(arguments: [(10_800, "3h0m ahead of"), (-400, "6m40s behind")] as [(Int64, String)])
    func `the time that brokers give the worker's records shows a wrong clock`(_ lead: Int64, _ text: String) {
        let results = compare(lead: lead) { truth, instant in
            .init(append: AppendTime(milliseconds: truth.milliseconds, readAt: instant))
        }
        #expect(results.prefix(2).allSatisfy { $0.problem == nil && $0.notices.isEmpty }, "two may be late")
        let problem = "this clock is \(text) the brokers' clock; set this machine's clock"
        #expect(results.last?.problem == problem)
        #expect(results.last?.notices == [.differs(problem)])
        #expect(results.last?.offsets == [.brokers: Double(lead)])
    }

    @Test(arguments: [10_800, -400] as [Int64])
    func `the dates of vendors' answers show a wrong clock`(_ lead: Int64) {
        let results = compare(lead: lead) { truth, _ in .init(answer: truth) }
        #expect(results.last?.problem?.contains("the clocks of the vendors' REST APIs") == true)
        #expect(results.last?.offsets == [.lookups: Double(lead)])
    }

    @Test func `live events from the future show a clock that is behind, and old ones show nothing`() {
        func results(_ lead: Int64, isAppendTime: Bool) -> ClockWatch.Result? {
            compare(lead: lead) { truth, _ in
                .init(record: RecordTime(milliseconds: truth.milliseconds, isAppendTime: isAppendTime))
            }.last
        }
        let ahead = results(-10_800, isAppendTime: false)
        #expect(ahead?.problem == nil, "one producer's wrong clock must not stop a fleet")
        #expect(ahead?.offsets == [.events: -10_800])
        #expect(
            ahead?.notices == [.eventsAreAhead("this clock is 3h0m behind the clocks of the live events' producers")])
        #expect(results(-10_800, isAppendTime: true)?.problem?.contains("behind the brokers' clock") == true)
        #expect(results(10_800, isAppendTime: false)?.problem == nil, "events may wait for hours")
        #expect(results(10_800, isAppendTime: true)?.problem == nil)
        #expect(results(10_800, isAppendTime: true)?.offsets == [:])
    }

    @Test func `a producer whose clock is ahead is logged once in ten minutes, also among other producers`() {
        let watch = ClockWatch()
        let results = compare(1500, lead: 0, watch) { truth, _ in
            let second = truth.seconds - Self.now.seconds
            let time = truth.advanced(bySeconds: second % 10 < 5 ? 10_800 : 0)
            return .init(record: RecordTime(milliseconds: time.milliseconds, isAppendTime: false))
        }
        #expect(results.allSatisfy { $0.problem == nil })
        #expect(results.flatMap(\.notices).count == 3)
    }

    @Test(arguments: [3000, 400 * 86_400] as [Int64])
    func `a single event that is dated ahead is logged, also among those of other producers`(_ ahead: Int64) {
        let results = compare(60, lead: 0) { truth, _ in
            let isAhead = truth.seconds - Self.now.seconds == 7
            return .init(
                record: RecordTime(
                    milliseconds: truth.advanced(bySeconds: isAhead ? ahead : -1).milliseconds, isAppendTime: false))
        }
        #expect(results.map(\.notices.count) == (0..<60).map { $0 == 9 ? 1 : 0 })
    }

    @Test func `a clock that brokers show to be behind has one line, and none about the events`() {
        let results = compare(900, lead: -10_800) { truth, instant in
            .init(
                record: RecordTime(milliseconds: truth.milliseconds, isAppendTime: false),
                append: AppendTime(milliseconds: truth.milliseconds, readAt: instant))
        }
        #expect(
            results.flatMap(\.notices) == [
                .differs("this clock is 3h0m behind the brokers' clock; set this machine's clock")
            ])
    }

    @Test func `a backlog of old events does not hide a difference that brokers show`() {
        let watch = ClockWatch()
        let results = compare(6, lead: 10_800, watch) { truth, instant in
            .init(
                record: RecordTime(milliseconds: truth.milliseconds, isAppendTime: true),
                append: AppendTime(milliseconds: truth.milliseconds, readAt: instant))
        }
        #expect(results.suffix(4).allSatisfy { $0.problem != nil })
        #expect(results.flatMap(\.notices).count == 1, "one line for one loss")
    }

    @Test func `a clock that is set right is reported once, with the length of the outage`() {
        let watch = ClockWatch()
        _ = compare(lead: 10_800, watch) { truth, _ in .init(answer: truth) }
        let end = ContinuousClock.now + .seconds(110)
        let result = Self.compare(watch, .init(answer: Self.now), at: Self.now, end)
        #expect(result.problem == nil)
        guard case .agrees(let length)? = result.notices.first else {
            Issue.record("\(result)")
            return
        }
        #expect(length > .seconds(100) && length < .seconds(120), "by a clock that nobody sets")
        #expect(Self.compare(watch, .init(answer: Self.now), at: Self.now, end).notices.isEmpty)
    }

    @Test func `a refused time counts at once, until records are accepted or ten minutes are over`() {
        let watch = ClockWatch()
        watch.refused(at: Self.now)
        let result = Self.compare(watch, .init(), at: Self.now)
        #expect(result.problem?.contains("INVALID_TIMESTAMP") == true)
        #expect(Self.compare(watch, .init(), at: Self.now.advanced(bySeconds: 601)).problem == nil)
        watch.refused(at: Self.now)
        watch.accepted()
        #expect(Self.compare(watch, .init(), at: Self.now).problem == nil)
    }

    @Test func `a clock counts as compared for ten minutes after a deciding comparison`() {
        let watch = ClockWatch()
        let event = RecordTime(milliseconds: Self.now.milliseconds, isAppendTime: false)
        #expect(!Self.compare(watch, .init(record: event), at: Self.now).isCompared, "producers do not decide")
        #expect(Self.compare(watch, .init(answer: Self.now), at: Self.now).isCompared)
        #expect(watch.result(at: Self.now.advanced(bySeconds: 600)).isCompared)
        let late = watch.result(at: Self.now.advanced(bySeconds: 601))
        #expect(!late.isCompared && late.offsets.isEmpty)
    }

    @Test func `a difference ends after ten minutes without a comparison, also while no session runs`() async {
        let watch = ClockWatch()
        let results = compare(lead: 10_800, watch) { truth, _ in .init(answer: truth) }
        #expect(results.last?.problem != nil)
        let (stream, reports) = AsyncStream.makeStream(of: ClockWatch.Result.self)
        let later = Self.now.advanced(bySeconds: 10_800 + 700)
        let run = Task { await watch.run(now: { later }) { reports.yield($0) } }
        var result: ClockWatch.Result?
        for await next in stream {
            result = next
            break
        }
        run.cancel()
        await run.value
        #expect(result?.problem == nil && result?.offsets == [:])
    }

    @Test func `a comparison reaches readiness, the metric and the log`() {
        let (status, metrics, log) = (WorkerStatus(), WorkerMetrics(), RecordingLog())
        status.set(.worker, nil)
        let observer = SessionObserver(status, metrics: metrics, logger: log.logger())
        let offsets: [ClockComparisons.Source: Double] = [.lookups: -400, .events: 0]
        observer.compared(
            .init(problem: "p", isCompared: true, offsets: offsets, notices: [.differs("p"), .eventsAreAhead("e")]))
        observer.compared(.init(problem: "p", isCompared: true, offsets: offsets, notices: []))
        #expect(status.problems == [.clock: "p"] && status.isClockCompared)
        let exposition = metrics.registry.exposition()
        #expect(exposition.contains("remint_clock_offset_seconds{source=\"lookups\"} -400"))
        observer.compared(
            .init(problem: nil, isCompared: false, offsets: [:], notices: [.agrees(after: .seconds(110))]))
        #expect(status.isReady && !status.isClockCompared)
        #expect(!metrics.registry.exposition().contains("remint_clock_offset_seconds{"))
        #expect(log.lines.map(\.level) == [.error, .warning, .notice])
        #expect(log.lines.last?.metadata["remint.outage"] == "1m50s")
    }

    @Test func `an abort because of a time names the clock, and no other abort does`() {
        let log = RecordingLog()
        let observer = SessionObserver(WorkerStatus(), logger: log.logger())
        observer.aborted(KafkaError(.invalidTimestamp, "delivering: Broker: Invalid timestamp"), isRepeated: true)
        #expect(log.lines.count == 2)
        #expect(log.lines.allSatisfy { $0.metadata["remint.detail"]?.contains("this machine's clock") == true })
        observer.aborted(KafkaError(.transport, "gone"), isRepeated: false)
        #expect(log.lines.last?.metadata["remint.detail"] == nil)
    }
}
