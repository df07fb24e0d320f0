import ArgumentParser
import Operations

/// `--rate`, the pace of a job.
struct RateOption: ParsableArguments {
    @Option(help: "Number of events per second, from 0.001 to 1000000; 0 for no limit.") var rate = 500.0

    func validate() throws {
        guard rate == 0 || ReissuePace.rates.contains(rate) else {
            throw ValidationError("--rate is 0, or 0.001 to 1000000 events a second")
        }
    }

    /// The rate; nil for as fast as events can be delivered.
    var perSecond: Double? { rate > 0 ? rate : nil }
}
