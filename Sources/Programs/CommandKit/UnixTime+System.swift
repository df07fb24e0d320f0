package import AdapterKit
import Foundation

extension UnixTime {
    /// The system's clock.
    @Sendable package static func system() -> UnixTime {
        UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1_000_000))
    }
}
