/// Numbers of bytes and shares as the configuration writes them: `32MB`, `10%`.
package enum AmountText {
    /// So many bytes, in the largest unit that leaves no rest.
    package static func format(bytes: Int) -> String {
        for (unit, shift) in [("GB", 30), ("MB", 20), ("kB", 10)] where bytes != 0 && bytes % (1 << shift) == 0 {
            return "\(bytes >> shift)\(unit)"
        }
        return "\(bytes)"
    }

    /// A share from 0 to 1 as a percentage, with a tenth of a percent at the finest.
    package static func format(share: Double) -> String {
        let percent = (share * 1000).rounded() / 10
        return Int(exactly: percent).map { "\($0)%" } ?? "\(percent)%"
    }
}
