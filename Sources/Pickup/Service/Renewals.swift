import AdapterKit
import JOSE

/// When the tokens of connected devices are renewed: before they end, spread over time, and of nobody who is not there. A value
/// without a clock.
struct Renewals: Sendable {
    /// The shortest time before its end that a token is renewed, in seconds.
    private static let least: Int64 = 20

    /// How long before its end the token of `key` with `version` is renewed, in seconds: between an eighth and more than nine tenths
    /// of its life, another share for each token. So wide, because devices that came together must not ask together, neither this
    /// time nor the next: with shares from nothing to one the busiest moment has 1.36 times the mean, with shares around a half it
    /// has several times as much. A signature is cheaper than a herd.
    static func margin(of key: [UInt8], version: Int64, lifetime: Int64) -> Int64 {
        let hash = SHA256.hash(key + Array(String(version).utf8)).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let share = 0.125 + 0.8 * Double(hash) / Double(UInt32.max)
        return max(min(least, lifetime / 2), Int64(Double(lifetime) * share))
    }

    /// Whether a token that ends at `expiresAt` is to be renewed at `now`.
    static func isDue(_ key: [UInt8], _ token: HeldToken, lifetime: Int64, at now: UnixTime) -> Bool {
        token.expiresAt - now.seconds <= margin(of: key, version: token.version, lifetime: lifetime)
    }
}
