import AdapterKit

/// When the tokens of an app's connected devices are renewed: before they end, spread evenly over time, and of nobody who is not
/// there. A value without a clock.
///
/// Devices that came together would ask together, this time and each time after. So a life is cut into slots, and a token takes,
/// of the slots that its life allows, the one that fewest others have; the latest of equals, for a token that is used longer is a
/// signature less. Chance alone would leave a busiest moment of twice the mean.
struct Renewals: Sendable {
    /// What is known of one token.
    private struct Plan {
        let version: Int64
        let slot: Int64
        /// When it is renewed, and when it ends, in seconds since 1970.
        let due, end: Int64
    }

    /// The shortest time before its end that a token is renewed, in seconds.
    private static let least: Int64 = 20
    /// About how many slots a life has.
    private static let slots: Int64 = 128

    /// How long the app's tokens live, in seconds.
    private let lifetime: Int64
    /// How long a slot is, in seconds.
    private let width: Int64
    private var plans: [[UInt8]: Plan] = [:]
    /// How many tokens have each slot.
    private var takers: [Int64: Int] = [:]

    /// For an app whose tokens live `lifetime` seconds.
    init(lifetime: Int64) {
        self.lifetime = lifetime
        width = max(1, lifetime / Self.slots)
    }

    /// The keys of `streamed` whose tokens are to be renewed at `now`. What is not in `streamed` is forgotten.
    mutating func due(_ streamed: [(key: [UInt8], token: HeldToken)], at now: UnixTime) -> [(
        key: [UInt8], token: HeldToken
    )] {
        forget(allBut: streamed)
        return streamed.filter { key, token in
            if let plan = plans[key], plan.version == token.version { return plan.due <= now.seconds }
            let predecessor = plans[key]
            drop(key)
            var plan = plan(token, at: now)
            // Where a renewal lives no longer than what it replaces, as under a key that is retired soon, another would not either.
            if let predecessor, token.expiresAt <= predecessor.end {
                plan = Plan(version: plan.version, slot: plan.slot, due: token.expiresAt, end: token.expiresAt)
            }
            plans[key] = plan
            takers[plan.slot, default: 0] += 1
            return plan.due <= now.seconds
        }
    }

    /// The slot for a token: one that begins from a twelfth to seven eighths of a life after its start, and not in the past.
    private func plan(_ token: HeldToken, at now: UnixTime) -> Plan {
        let margin = max(min(Self.least, lifetime / 2), lifetime / 8)
        let last = (token.expiresAt - margin) / width
        // A token may live shorter than the app's: its version says when it was made, in microseconds.
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
        // Within a slot they follow each other.
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
