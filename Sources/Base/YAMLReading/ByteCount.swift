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
