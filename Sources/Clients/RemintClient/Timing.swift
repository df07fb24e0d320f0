package import Foundation

/// The clocks, the sleep and the randomness of a client, which tests replace.
package struct Timing: Sendable {
    /// Seconds of a clock that only grows, and that goes on while the device sleeps.
    package let now: @Sendable () -> Double
    /// The device's date.
    package let date: @Sendable () -> Date
    /// Returns after this many seconds, or throws `CancellationError`.
    package let sleep: @Sendable (Double) async throws -> Void
    /// A random number from 0 up to 1.
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

    /// The system's clocks.
    package static var system: Timing {
        let start = ContinuousClock.now
        return Timing(
            now: { (ContinuousClock.now - start) / .seconds(1) }, date: { Date() },
            sleep: { try await Task.sleep(for: .seconds($0)) }, random: { Double.random(in: 0..<1) })
    }
}
