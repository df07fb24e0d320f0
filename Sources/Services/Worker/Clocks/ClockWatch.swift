import AdapterKit
import Kafka
import Synchronization

/// The worker's clock among others, across sessions. A session records one moment of each source once a second at most. The
/// result is read once a second, also while no session runs.
final class ClockWatch: Sendable {
    /// The moments that a session saw since its last report.
    struct Sample: Sendable {
        var record: RecordTime?
        /// The time that a broker gave a record of this worker.
        var append: AppendTime?
        var answer: UnixTime?
    }

    struct Result: Sendable {
        let problem: String?
        /// Whether a clock that decides readiness was compared of late.
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
