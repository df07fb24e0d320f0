/// Durations as the configuration writes them: `20ms`, `10s`, `1m`, `12h`, `30d`.
public enum DurationText {
    /// Parses a duration; nil for any other text, and for zero and negative ones.
    public static func parse(_ text: String) -> Duration? {
        parseOrZero(text).flatMap { $0 > .zero ? $0 : nil }
    }

    /// Parses a duration that may be zero: `0s`.
    package static func parseOrZero(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits), count >= 0 else { return nil }
        let milliseconds: Int64
        switch text.dropFirst(digits.count) {
        case "ms": milliseconds = 1
        case "s": milliseconds = 1000
        case "m": milliseconds = 60_000
        case "h": milliseconds = 3_600_000
        case "d": milliseconds = 86_400_000
        default: return nil
        }
        let (product, overflow) = count.multipliedReportingOverflow(by: milliseconds)
        // A thousand years is more than anyone means, and less than arithmetic cannot hold.
        return overflow || product > 31_536_000_000_000 ? nil : .milliseconds(product)
    }

    /// Returns a duration as the configuration would write it, in whole milliseconds at the finest.
    package static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        guard attoseconds != 0 else { return format(seconds: seconds) }
        return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms"
    }

    /// Returns whole seconds as the configuration would write them.
    public static func format(seconds: Int64) -> String {
        for (unit, length) in [("d", Int64(86_400)), ("h", 3600), ("m", 60)] where seconds != 0 && seconds % length == 0
        {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }
}
