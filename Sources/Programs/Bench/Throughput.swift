import Dispatch
import Synchronization

/// The rate at which threads repeat a piece of work.
package enum Throughput {
    /// The work of one thread: it does the thing `times` times.
    package typealias Work = (_ times: Int) throws -> Void

    /// Returns the repetitions a second, of all threads together.
    ///
    /// - Parameters:
    ///   - seconds: the length of the measurement.
    ///   - prepare: makes a thread's work, on that thread; it is not measured.
    package static func measure(threads: Int, seconds: Double, _ prepare: @Sendable () throws -> Work) throws -> Double
    {
        let total = Mutex(0.0)
        let failure = Mutex<(any Error)?>(nil)
        let everyoneIsReady = Gate(threads)
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            do {
                let work = try prepare()
                try work(1)
                everyoneIsReady.pass()
                let rate = try rate(of: work, seconds)
                total.withLock { $0 += rate }
            } catch {
                everyoneIsReady.pass()
                failure.withLock { $0 = error }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return total.withLock { $0 }
    }

    /// Returns the repetitions a second, on this thread alone.
    package static func measureHere(seconds: Double, _ work: Work) throws -> Double {
        try work(1)
        return try rate(of: work, seconds)
    }

    /// Returns the rate of `work`. It reads the clock so rarely that this costs nothing, and so often that the last
    /// stretch is short.
    private static func rate(of work: Work, _ seconds: Double) throws -> Double {
        let start = ContinuousClock.now
        var stretch = 1
        var done = 0
        while true {
            let before = ContinuousClock.now
            try work(stretch)
            done += stretch
            let now = ContinuousClock.now
            if now - before < .milliseconds(1) { stretch = min(stretch * 2, 1 << 20) }
            let passed = (now - start) / .seconds(1)
            if passed >= seconds { return Double(done) / passed }
        }
    }
}

/// Starts the threads together, once all of them are ready.
private final class Gate: Sendable {
    private let missing: Atomic<Int>

    package init(_ count: Int) { missing = Atomic(count) }

    package func pass() {
        missing.subtract(1, ordering: .acquiringAndReleasing)
        while missing.load(ordering: .acquiring) > 0 {}
    }
}
