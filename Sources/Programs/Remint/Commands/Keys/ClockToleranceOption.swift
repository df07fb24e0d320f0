import ArgumentParser
import Operations
import WorkerConfiguration

/// `--clock-tolerance`, how far the operator's clock may be ahead.
struct ClockToleranceOption: ParsableArguments {
    @Option(
        name: .customLong("clock-tolerance"),
        help: ArgumentHelp(
            """
            Maximum time that this machine's clock may be ahead of the workers' clocks. For this time after its \
            expiry, a token still counts as live.
            """, valueName: "15m"))
    var text = DurationText.format(seconds: ClockTolerance.standard.seconds)

    func validate() throws {
        guard DurationText.parseOrZero(text) != nil else {
            throw ValidationError("--clock-tolerance is a duration such as 0s or 15m")
        }
    }

    /// The tolerance that was given.
    var tolerance: ClockTolerance {
        DurationText.parseOrZero(text).map { ClockTolerance(seconds: $0.components.seconds) } ?? .standard
    }
}
