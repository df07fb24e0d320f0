/// The form of a key's value, with its bounds. The reader enforces it, `remint check` reports it and the documentation
/// shows it.
public indirect enum ValueForm: Sendable, Equatable {
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
    /// A word of a list.
    case choice([String])
    /// A string.
    case text
    /// The name of an adapter, or the path of a vendor's file.
    case adapter
    /// `host:port`.
    case address
    /// A URL that begins with https:// or http://.
    case url
    /// A scheme and a host, and a port where it is not the scheme's own.
    case origin
    /// Requests a second or a minute: `4/s`, `200/m`.
    case rate
    /// A topic's name.
    case topic
    /// 64 hexadecimal digits.
    case digest
    /// The path of a file or a folder, relative to the configuration's own.
    case path
    /// A list of values whose count is in the range, as in `[a, b]`.
    case list(of: ValueForm, count: ClosedRange<Int> = 1...Int.max)
    /// librdkafka's properties by their names.
    case properties
    /// Texts by names of the user's.
    case texts
    /// The adapter's own settings.
    case settings
    /// Any value, read as JSON.
    case json

    /// The bounds or the words, for documentation; nil where there are none.
    public var bounds: String? {
        switch self {
        case .duration(let range):
            "\(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        case .bytes(let range):
            "\(ByteCount.format(range.lowerBound)) to \(ByteCount.format(range.upperBound))"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .share(let range):
            "\(Share.format(range.lowerBound)) to \(Share.format(range.upperBound))"
        case .choice(let words): words.joined(separator: ", ")
        case .bool, .text, .adapter, .address, .url, .origin, .rate, .topic, .digest, .path, .list, .properties, .texts,
            .settings, .json:
            nil
        }
    }
}
