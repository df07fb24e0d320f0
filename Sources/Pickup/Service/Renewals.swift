import AdapterKit

/// When the tokens of connected devices are renewed: before they end, spread over time, and of nobody who is not there. A value
/// without a clock.
struct Renewals: Sendable {
    /// The shortest time before its end that a token is renewed, in seconds.
    private static let least: Int64 = 20

    /// How long before its end the token of `key` is renewed, in seconds: a quarter of its life at most and an eighth at least, the
    /// same for one subject every time, so that the devices of a rotation do not ask together.
    static func margin(of key: [UInt8], lifetime: Int64) -> Int64 {
        // FNV-1a: spread alike over what keys look like, and no secret.
        let hash = key.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        let share = 0.125 + 0.125 * Double(hash >> 40) / Double(1 << 24)
        return max(min(least, lifetime / 2), Int64(Double(lifetime) * share))
    }

    /// Whether a token that ends at `expiresAt` is to be renewed at `now`.
    static func isDue(_ key: [UInt8], expiresAt: Int64, lifetime: Int64, at now: UnixTime) -> Bool {
        expiresAt - now.seconds <= margin(of: key, lifetime: lifetime)
    }
}
