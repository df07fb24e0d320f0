import AdapterKit
import HTTPTransport
import Kafka
import Synchronization
import Wiring

/// The comparisons of the worker's clock with the clocks of others. A value without a clock.
///
/// No request of Kafka's protocol returns a broker's time. The brokers show their clock in two ways: they date the records
/// of topics with `message.timestamp.type=LogAppendTime`, and they refuse records that this clock dates too late
/// (`INVALID_TIMESTAMP`). The vendors' answers have a date. Producers date the other records by their own clocks, and a
/// record may have waited: such a record counts only if it lies in the future. It is logged and keeps no worker from being
/// ready, because one producer with a wrong clock would stop the whole fleet.
struct ClockComparisons: Sendable {
    enum Source: String, CaseIterable, Sendable {
        case brokers
        case lookups
        case events
        fileprivate var decidesReadiness: Bool { self != .events }

        fileprivate var name: String {
            switch self {
            case .brokers: "the brokers' clock"
            case .lookups: "the clocks of the vendors' REST APIs"
            case .events: "the clocks of the live events' producers"
            }
        }
    }

    enum Notice: Sendable, Equatable {
        case differs(String)
        case agrees(after: Duration)
        /// Live events are dated later than this clock, and no other clock shows which of the two is wrong.
        case eventsAreAhead(String)
    }

    /// The time for which a refusal counts without another one, in microseconds.
    private static let refusalMemory: Int64 = 600_000_000
    /// The time in which the brokers' or the vendors' clocks may show that this clock is the wrong one, in microseconds.
    private static let eventsPause: Int64 = 2_000_000
    /// The time between two lines about the producers' clocks. Records of other producers end a difference, and the next
    /// ones of the wrong producer begin it again.
    private static let eventsInterval = Duration.seconds(600)

    private var sources: [Source: ClockComparison] = [:]
    private var refused: UnixTime?
    private var start: Duration?
    /// The longest lead of a live event over this clock that was not logged, and the time of the first one. One is enough:
    /// the records of right producers may be between those of a wrong one.
    private var eventsAhead: (by: Int64, since: UnixTime)?
    private var nextEventsLine = Duration.zero

    /// Records a moment that the clock of `source` dated just now.
    mutating func record(_ moment: UnixTime, of source: Source, at now: UnixTime) {
        sources[source, default: ClockComparison()].record(moment, at: now)
    }

    /// Records a moment that the clock of `source` dated, any time ago.
    mutating func record(delayed moment: UnixTime, of source: Source, at now: UnixTime) {
        sources[source, default: ClockComparison()].record(delayed: moment, at: now)
        let ahead = moment.microseconds(since: now)
        guard source == .events, ahead > ClockComparison.bound else { return }
        eventsAhead = (max(ahead, eventsAhead?.by ?? 0), eventsAhead?.since ?? now)
    }

    /// Records that the brokers refused a record because of its time.
    mutating func refused(at now: UnixTime) { refused = now }

    mutating func accepted() { refused = nil }

    /// Returns the difference that keeps the worker from being ready; nil where the clocks agree, as far as is known.
    func problem(at now: UnixTime) -> String? {
        var problems = Source.allCases.filter(\.decidesReadiness).compactMap { text(of: $0, at: now) }
        if let refused, now.microseconds(since: refused).magnitude <= UInt64(Self.refusalMemory) {
            problems.insert("the brokers refuse the time of this clock (INVALID_TIMESTAMP)", at: 0)
        }
        return problems.isEmpty ? nil : problems.joined(separator: "; ") + "; set this machine's clock"
    }

    /// Returns the difference from the clock of `source`; nil where the clocks agree.
    private func text(of source: Source, at now: UnixTime) -> String? {
        sources[source]?.difference(at: now).map { Self.text($0, of: source) }
    }

    private static func text(_ difference: Int64, of source: Source) -> String {
        let length = Outage.text(.microseconds(Int64(clamping: difference.magnitude)))
        return "this clock is \(length) \(difference > 0 ? "ahead of" : "behind") \(source.name)"
    }

    /// Returns the lead of this clock over each clock that was compared of late, in seconds.
    func offsets(at now: UnixTime) -> [Source: Double] {
        sources.compactMapValues { $0.measured(at: now).map { Double($0) / 1e6 } }
    }

    func isCompared(at now: UnixTime) -> Bool {
        Source.allCases.contains { $0.decidesReadiness && sources[$0]?.measured(at: now) != nil }
    }

    /// Returns the lines that are due since the last call.
    ///
    /// - Parameter elapsed: the time since any moment, by a clock that nobody sets.
    mutating func notices(at now: UnixTime, elapsed: Duration) -> [Notice] {
        [change(at: now, elapsed), eventsLine(at: now, elapsed)].compactMap(\.self)
    }

    private mutating func change(at now: UnixTime, _ elapsed: Duration) -> Notice? {
        let problem = problem(at: now)
        switch (start, problem) {
        case (nil, let problem?):
            start = elapsed
            return .differs(problem)
        case (let begin?, nil):
            start = nil
            return .agrees(after: max(.zero, elapsed - begin))
        default: return nil
        }
    }

    private mutating func eventsLine(at now: UnixTime, _ elapsed: Duration) -> Notice? {
        guard let ahead = eventsAhead else { return nil }
        let age = now.microseconds(since: ahead.since).magnitude
        guard start != nil || age >= UInt64(Self.eventsPause) else { return nil }
        eventsAhead = nil
        guard start == nil, elapsed >= nextEventsLine else { return nil }
        nextEventsLine = elapsed + Self.eventsInterval
        return .eventsAreAhead(Self.text(-ahead.by, of: .events))
    }
}

/// The worker's clock among others, across sessions. A session records one moment of each source once a second at most. The
/// result is read once a second, also while no session runs.
final class ClockWatch: Sendable {
    /// The moments that a session saw since its last report.
    struct Sample: Sendable {
        var record: RecordTime?
        var append: AppendTime?
        var answer: UnixTime?
    }

    struct Result: Sendable {
        let problem: String?
        let isCompared: Bool
        let offsets: [ClockComparisons.Source: Double]
        let notices: [ClockComparisons.Notice]
    }

    private let comparisons = Mutex(ClockComparisons())
    private let start = ContinuousClock.now

    /// Passes the result to `report` once a second, until the task is canceled.
    func run(now: @Sendable () -> UnixTime, _ report: (Result) -> Void) async {
        while !Task.isCancelled {
            report(result(at: now()))
            // A clock changes without an event.
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Compares the moments of `sample` with `now`, the time of this clock.
    func record(_ sample: Sample, at now: UnixTime, _ instant: ContinuousClock.Instant = .now) {
        comparisons.withLock { comparisons in
            if let record = sample.record {
                let source = record.isAppendTime ? ClockComparisons.Source.brokers : .events
                // Records that wait are no news of the brokers' clock, unless they lie in the future.
                let moment = UnixTime(milliseconds: record.milliseconds)
                if source == .events || moment > now { comparisons.record(delayed: moment, of: source, at: now) }
            }
            if let append = sample.append {
                let age = (instant - append.readAt) / .microseconds(1)
                let read = now.advanced(byMicroseconds: -Int64(max(0, min(age, 1e12))))
                comparisons.record(UnixTime(milliseconds: append.milliseconds), of: .brokers, at: read)
            }
            if let answer = sample.answer { comparisons.record(answer, of: .lookups, at: now) }
        }
    }

    /// Returns the result of the comparisons so far, with the lines that are due.
    func result(at now: UnixTime, _ instant: ContinuousClock.Instant = .now) -> Result {
        comparisons.withLock { comparisons in
            let notices = comparisons.notices(at: now, elapsed: instant - start)
            return Result(
                problem: comparisons.problem(at: now), isCompared: comparisons.isCompared(at: now),
                offsets: comparisons.offsets(at: now), notices: notices)
        }
    }

    /// Notes that the brokers refused a record because of its time.
    func refused(at now: UnixTime) { comparisons.withLock { $0.refused(at: now) } }

    func accepted() { comparisons.withLock { $0.accepted() } }
}
