/// How a key's value is written, with its bounds: what the reader keeps, `check` says and the documentation shows.
public enum ValueForm: Sendable, Equatable {
    /// A duration such as `20ms`, `10s` or `12h`.
    case duration(ClosedRange<Duration>)
    /// A number of bytes, alone or with `kB`, `MB` or `GB`.
    case bytes(ClosedRange<Int>)
    /// A whole number.
    case integer(ClosedRange<Int>)
    /// A number.
    case number(ClosedRange<Double>)
    /// A share, such as `10%`.
    case share(ClosedRange<Double>)
    /// `true` or `false`.
    case bool
    /// One of a few words.
    case choice([String])
    /// A text.
    case text
    /// The path of a file or a folder, relative to the configuration's own.
    case path
    /// A list of values, as in `[a, b]`.
    case list(of: String)
    /// A mapping whose names are the user's.
    case mapping(of: String)

    /// The bounds or the words, for documentation; nil where there are none.
    public var bounds: String? {
        switch self {
        case .duration(let range):
            "\(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        case .bytes(let range): "\(Self.text(bytes: range.lowerBound)) to \(Self.text(bytes: range.upperBound))"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .share(let range): "\(Self.text(share: range.lowerBound)) to \(Self.text(share: range.upperBound))"
        case .choice(let words): words.joined(separator: ", ")
        case .bool, .text, .path, .list, .mapping: nil
        }
    }

    static func text(bytes: Int) -> String {
        for (unit, shift) in [("GB", 30), ("MB", 20), ("kB", 10)] where bytes != 0 && bytes % (1 << shift) == 0 {
            return "\(bytes >> shift)\(unit)"
        }
        return "\(bytes)"
    }

    static func text(share: Double) -> String {
        let percent = (share * 1000).rounded() / 10
        return percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
    }
}
