import AdapterKit
import JOSE

/// When the tokens of connected devices are renewed: before they end, spread over time, and of nobody who is not there. A value
/// without a clock.
struct Renewals: Sendable {
    /// The shortest time before its end that a token is renewed, in seconds.
    private static let least: Int64 = 20

    /// How long before its end the token of `key` is renewed, in seconds: a quarter of its life at most and an eighth at least, the
    /// same for one subject every time, so that the devices of a rotation do not ask together.
    static func margin(of key: [UInt8], lifetime: Int64) -> Int64 {
        let hash = SHA256.hash(key).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let share = 0.125 + 0.125 * Double(hash) / Double(UInt32.max)
        return max(min(least, lifetime / 2), Int64(Double(lifetime) * share))
    }

    /// Whether a token that ends at `expiresAt` is to be renewed at `now`.
    static func isDue(_ key: [UInt8], expiresAt: Int64, lifetime: Int64, at now: UnixTime) -> Bool {
        expiresAt - now.seconds <= margin(of: key, lifetime: lifetime)
    }
}
