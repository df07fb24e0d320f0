import AdapterKit

/// The schedule of renewals of an app's tokens: before they end, spread evenly over time, and only for connected
/// devices. A value without a clock.
///
/// Devices that connected together would ask together, this time and each time after. So the schedule cuts a lifetime
/// into slots. A token gets, of the slots that its life allows, the one with the fewest tokens. Of equal slots it gets
/// the latest, because a token that is used longer saves a signature. Chance alone would leave a busiest moment of
/// twice the mean.
struct Renewals: Sendable {
    /// The plan for one token.
    private struct Plan {
        let version: Int64
        let slot: Int64
        /// The times of the renewal and of the token's end, in seconds since 1970.
        let due, end: Int64
    }

    /// The shortest time before its end that a token is renewed, in seconds.
    private static let least: Int64 = 20
    /// The approximate number of slots in a lifetime.
    private static let slots: Int64 = 128

    /// The lifetime of the app's tokens, in seconds.
    private let lifetime: Int64
    /// The length of a slot, in seconds.
    private let width: Int64
    private var plans: [[UInt8]: Plan] = [:]
    /// The number of tokens in each slot.
    private var takers: [Int64: Int] = [:]

    /// A schedule for an app whose tokens live `lifetime` seconds.
    init(lifetime: Int64) {
        self.lifetime = lifetime
        width = max(1, lifetime / Self.slots)
    }

    /// Returns the keys of `streamed` whose tokens must be renewed at `now`. Keys that are not in `streamed` are
    /// forgotten.
    mutating func due(_ streamed: [(key: [UInt8], token: HeldToken)], at now: UnixTime) -> [(
        key: [UInt8], token: HeldToken
    )] {
        forget(allBut: streamed)
        return streamed.filter { key, token in
            if let plan = plans[key], plan.version == token.version { return plan.due <= now.seconds }
            let predecessor = plans[key]
            drop(key)
            var plan = plan(token, at: now)
            // Where a renewal ends no later than the token it replaced, as under a key that retires soon, another one
            // would not either.
            if let predecessor, token.expiresAt <= predecessor.end {
                plan = Plan(version: plan.version, slot: plan.slot, due: token.expiresAt, end: token.expiresAt)
            }
            plans[key] = plan
            takers[plan.slot, default: 0] += 1
            return plan.due <= now.seconds
        }
    }

    /// Returns the plan for a token: a slot that begins between a twelfth and seven eighths of a lifetime after the
    /// token's start, and not in the past.
    private func plan(_ token: HeldToken, at now: UnixTime) -> Plan {
        let margin = max(min(Self.least, lifetime / 2), lifetime / 8)
        let last = (token.expiresAt - margin) / width
        // A token's life may be shorter than the app's lifetime: its version is the time of its minting, in
        // microseconds.
        let start = min(now.seconds, max(token.expiresAt - lifetime, token.version / 1_000_000))
        let first = max((start + lifetime / 12) / width, now.seconds / width + 1)
        guard first <= last else {
            return Plan(version: token.version, slot: last, due: token.expiresAt - margin, end: token.expiresAt)
        }
        var best = last
        for slot in (max(first, last - Self.slots)...last).reversed()
        where takers[slot, default: 0] < takers[best, default: 0] {
            best = slot
        }
        // Within a slot the renewals follow each other.
        return Plan(
            version: token.version, slot: best, due: best * width + Int64(takers[best, default: 0]) % width,
            end: token.expiresAt)
    }

    private mutating func forget(allBut streamed: [(key: [UInt8], token: HeldToken)]) {
        let present = Set(streamed.lazy.map(\.key))
        guard present.count < plans.count || plans.keys.contains(where: { !present.contains($0) }) else { return }
        for key in plans.keys.filter({ !present.contains($0) }) { drop(key) }
    }

    private mutating func drop(_ key: [UInt8]) {
        guard let plan = plans.removeValue(forKey: key), let count = takers[plan.slot] else { return }
        takers[plan.slot] = count > 1 ? count - 1 : nil
    }
}
