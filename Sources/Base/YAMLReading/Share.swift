/// Shares as the configuration writes them: `10%`.
package enum Share {
    /// Returns a share from 0 to 1 as a percentage, with a tenth of a percent at the finest.
    package static func format(_ share: Double) -> String {
        let percent = (share * 1000).rounded() / 10
        return Int(exactly: percent).map { "\($0)%" } ?? "\(percent)%"
    }
}
