/// Durations as the configuration writes them: `20ms`, `10s`, `1m`, `12h`, `30d`.
public enum DurationText {
    /// Parses a duration; nil for any other text, and for zero and negative ones.
    package static func parse(_ text: String) -> Duration? {
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
    package static func format(seconds: Int64) -> String {
        for (unit, length) in [("d", Int64(86_400)), ("h", 3600), ("m", 60)] where seconds != 0 && seconds % length == 0
        {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }
}

/// A number of bytes as text: alone or with `kB`, `MB` or `GB` (powers of 1024).
package enum ByteCount {
    /// Parses a number of bytes; nil where `text` is none, or more than an `Int` holds.
    package static func parse(_ text: some StringProtocol) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }
        guard let number = Int(digits), let shift = ["": 0, "kB": 10, "MB": 20, "GB": 30][String(unit)],
            number <= Int.max >> shift
        else { return nil }
        return number << shift
    }

    /// Returns the text of a number of bytes, in the largest unit that leaves no rest.
    package static func format(_ bytes: Int) -> String {
        for (unit, shift) in [("GB", 30), ("MB", 20), ("kB", 10)] where bytes != 0 && bytes % (1 << shift) == 0 {
            return "\(bytes >> shift)\(unit)"
        }
        return "\(bytes)"
    }
}

/// Shares as the configuration writes them: `10%`.
package enum Share {
    /// Returns a share from 0 to 1 as a percentage, with a tenth of a percent at the finest.
    package static func format(_ share: Double) -> String {
        let percent = (share * 1000).rounded() / 10
        return Int(exactly: percent).map { "\($0)%" } ?? "\(percent)%"
    }
}
