import Dispatch
import Foundation
package import JOSE
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

    init(_ count: Int) { missing = Atomic(count) }

    func pass() {
        missing.subtract(1, ordering: .acquiringAndReleasing)
        while missing.load(ordering: .acquiring) > 0 {}
    }
}

/// A figure, taken in several rounds: the median, with the lowest and the highest.
package struct Spread {
    private let sorted: [Double]

    package init(_ values: [Double]) { sorted = values.sorted() }

    /// Returns the figures' share of `whole`, round by round.
    package static func ratio(_ part: [Double], of whole: [Double]) -> Spread {
        Spread(zip(part, whole).map { $1 > 0 ? $0 / $1 : 0 })
    }

    package var low: Double { sorted.first ?? 0 }
    package var high: Double { sorted.last ?? 0 }
    package var median: Double {
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// Returns the median, followed by the other figures where there are any.
    package func text(_ places: Int = 0) -> String {
        func text(_ value: Double) -> String { String(format: "%.\(places)f", value) }
        return sorted.count < 2 ? text(median) : "\(text(median)) (\(text(low))–\(text(high)))"
    }
}

extension JSONWriter {
    /// Writes a member of six significant digits.
    package mutating func member(_ name: String, _ value: Double) {
        self.name(name)
        raw(String(format: "%.6g", value.isFinite ? value : 0))
    }

    /// Writes an object of median, low and high.
    package mutating func member(_ name: String, _ spread: Spread) {
        self.name(name)
        beginObject()
        member("median", spread.median)
        member("low", spread.low)
        member("high", spread.high)
        endObject()
    }
}
