import AdapterKit
import Kafka
import Synchronization

/// The worker's clock among others, across sessions. It compares once a second at most, one moment of each source.
final class ClockWatch: Sendable {
    /// The moments that a session saw since its last report.
    struct Sample: Sendable {
        /// The time of the newest live record.
        var record: RecordTime?
        /// The time that a broker gave a record of this worker.
        var append: AppendTime?
        /// The date of a vendor's answer.
        var answer: UnixTime?
    }

    /// The result of a comparison.
    struct Result: Sendable {
        let problem: String?
        let offsets: [ClockComparisons.Source: Double]
        let notices: [ClockComparisons.Notice]
    }

    private let comparisons = Mutex(ClockComparisons())
    private let start = ContinuousClock.now

    /// Compares the moments of `sample` with `now`, the time of this clock.
    func compare(_ sample: Sample, at now: UnixTime, _ instant: ContinuousClock.Instant = .now) -> Result {
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
            let notices = comparisons.notices(at: now, elapsed: instant - start)
            return Result(
                problem: comparisons.problem(at: now), offsets: comparisons.offsets(at: now), notices: notices)
        }
    }

    /// Notes that the brokers refused a record because of its time.
    func refused(at now: UnixTime) { comparisons.withLock { $0.refused(at: now) } }

    /// Notes that the brokers accepted records.
    func accepted() { comparisons.withLock { $0.accepted() } }
}
