/// The pace of a job: a rate, spread evenly but for a jitter, with rests between waves.
package struct ReissuePace: Sendable, Equatable {
    /// The allowed rates, in events a second: within them, no time and no number of events is too large to be counted.
    package static let rates = 0.001...1_000_000.0

    /// Events a second; nil for as fast as they can be delivered.
    package let rate: Double?
    /// The share by which the time from batch to batch varies, from 0 to 1, so that many jobs at once do not keep step.
    package let jitter: Double
    /// Events of a wave; nil for one wave.
    package let wave: Int?
    /// The rest between waves, in seconds.
    package let rest: Double

    /// - Parameters:
    ///   - rate: events a second, within `rates`; nil for as fast as they can be delivered.
    ///   - wave: events of a wave.
    package init(rate: Double?, jitter: Double = 0.2, wave: Int? = nil, rest: Double = 0) {
        self.rate = rate.map {
            $0.isNaN ? Self.rates.lowerBound : min(max($0, Self.rates.lowerBound), Self.rates.upperBound)
        }
        self.jitter = min(max(jitter, 0), 1)
        self.wave = wave
        self.rest = rest
    }

    /// Returns the number of events to send together: a tenth of a second's worth, at most 2,000, and no more than the
    /// wave has left.
    package func batch(sent: Int) -> Int {
        let size = rate.map { max(1, min(2000, Int($0 / 10))) } ?? 2000
        guard let wave, wave > 0 else { return size }
        return min(size, wave - sent % wave)
    }

    /// Returns the time from the beginning of a batch of `count` to the beginning of the next one, in seconds.
    package func pause(after count: Int, sent: Int, random: inout some RandomNumberGenerator) -> Double {
        let even = rate.map { Double(count) / $0 } ?? 0
        let pause = even * (1 + Double.random(in: -jitter...jitter, using: &random))
        guard let wave, wave > 0, sent % wave == 0 else { return pause }
        return pause + rest
    }
}
