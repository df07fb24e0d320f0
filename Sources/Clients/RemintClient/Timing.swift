package import Foundation

/// The clocks, the pauses and the random numbers of a client. Tests replace these functions.
package struct Timing: Sendable {
    /// The seconds of a clock that only grows. The clock continues while the device sleeps.
    package let now: @Sendable () -> Double
    /// The date of the device's clock. The user can set this clock.
    package let date: @Sendable () -> Date
    /// A function that waits the given seconds. If the task is canceled, the function throws `CancellationError`.
    package let sleep: @Sendable (Double) async throws -> Void
    /// A random number from 0 to less than 1.
    package let random: @Sendable () -> Double

    package init(
        now: @escaping @Sendable () -> Double, date: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Double) async throws -> Void, random: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.date = date
        self.sleep = sleep
        self.random = random
    }

    /// The system's clocks and random numbers.
    package static var system: Timing {
        let start = ContinuousClock.now
        return Timing(
            now: { (ContinuousClock.now - start) / .seconds(1) }, date: { Date() },
            sleep: { try await Task.sleep(for: .seconds($0)) }, random: { Double.random(in: 0..<1) })
    }
}
