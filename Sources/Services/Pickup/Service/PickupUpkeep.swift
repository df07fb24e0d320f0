import AdapterKit
import Synchronization
import Wiring

/// The work beside the calls: it ends waits that are over, renews tokens of connected devices, and forgets expired
/// tokens.
struct PickupUpkeep: Sendable {
    let store: TokenStore
    let asks: TokenAsks
    let terms: CurrentTerms
    let health: GatewayHealth
    let metrics: PickupMetrics
    /// The number of asks a second for users without a known token.
    let coldRate: Int
    let now: @Sendable () -> UnixTime

    private static let tick = Duration.milliseconds(100)

    /// Runs until the task is canceled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await endWaits() }
            group.addTask { await keepUp() }
        }
    }

    /// Ends the waits that are over, in a task that no other work delays.
    private func endWaits() async {
        while !Task.isCancelled {
            // The loop's condition checks for cancellation.
            try? await Task.sleep(for: Self.tick)
            store.waiters.expire(at: .now)
            asks.cold.sendDue()
        }
    }

    private func keepUp() async {
        var renewals: [String: Renewals] = [:]
        var bare: [String: BareStreams] = [:]
        var heap = HeapUse()
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            metrics.set(store)
            metrics.set(health)
            health.report()
            store.trim()
            terms.current.access.arrivals.sweep()
            heap.note(store)
            await renew(&renewals)
            await askForBare(&bare)
        }
    }

    /// Asks for the next token of every subject whose device is connected and whose token is about to end.
    func renew(_ renewals: inout [String: Renewals]) async {
        let now = now()
        let streamed = Dictionary(grouping: store.streamed) { TokenTopicKey.app(of: $0.key) ?? "" }
        for (name, app) in terms.current.apps {
            let connected = streamed[name] ?? []
            let subjects = Dictionary(connected.map { ($0.key, $0.subject) }) { first, _ in first }
            for (key, token) in renewals[name, default: Renewals(lifetime: app.lifetime)].due(
                connected.map { ($0.key, $0.token) }, at: now)
            {
                guard let subject = subjects[key] else { continue }
                let asker = Self.asker(subject)
                // If a renewal fails, the next tick tries it again, as long as the device is connected.
                let life = token.expiresAt - now.seconds + 1
                // Nobody waits here: the token goes to the stream. An ask without a wait would wait for the brokers.
                guard case .waits = try? await asks.token(for: asker, app, life: life, within: Self.turn) else {
                    continue
                }
                metrics.renewed(name)
            }
        }
    }
}

extension PickupUpkeep {
    /// The time for which an ask for a connected device may wait for its turn.
    private static let turn = Duration.seconds(1)

    /// Asks for a token of every subject whose device is connected and that has no live token.
    private func askForBare(_ streams: inout [String: BareStreams]) async {
        let (now, apps) = (now(), terms.current.apps)
        let found = Dictionary(grouping: store.bare) { TokenTopicKey.app(of: $0.key) ?? "" }
        var random = SystemRandomNumberGenerator()
        for (name, app) in apps where found[name] != nil || streams[name] != nil {
            let subjects = Dictionary((found[name] ?? []).map { ($0.key, $0.subject) }) { first, _ in first }
            var bare = streams[name] ?? BareStreams()
            // Half of the budget is left to calls.
            let due = bare.due(
                Array(subjects.keys), at: now, isHeld: asks.isHeld(name), rate: max(1, coldRate / 2), using: &random)
            for key in due {
                guard let subject = subjects[key] else { continue }
                do throws(Problem) {
                    // Nobody waits here: the token goes to the stream.
                    _ = try await asks.token(for: Self.asker(subject), app, life: 0, within: Self.turn)
                } catch { bare.refused(key, for: error.retryAfter ?? 1, at: now, using: &random) }
            }
            streams[name] = subjects.isEmpty ? nil : bare
        }
    }

    fileprivate static func asker(_ subject: Subject) -> Asker {
        Asker(vouched: [], subject: subject, device: nil, callers: [], sessionEnd: nil)
    }
}

/// The use of the heap by what comes and goes with callers. Its freed memory is given back once most is gone. A value.
private struct HeapUse {
    /// The asks and waits below which there is little to give back.
    private static let least = 5000

    private var peak = 0

    mutating func note(_ store: TokenStore) {
        let use = store.asks.withLock { $0.count } + store.waiters.count
        if peak >= Self.least, use < peak / 4 {
            Heap.giveBack()
            peak = use
        }
        peak = max(peak, use)
    }
}

private enum TokenTopicKey {
    /// Returns the app, the first part of the key.
    static func app(of key: [UInt8]) -> String? {
        let name = key.prefix { $0 != UInt8(ascii: "/") }
        return String(validating: name, as: UTF8.self)
    }
}

/// The schedule of renewals of an app's tokens: before they end, spread evenly over time, and only for connected
/// devices. A value without a clock.
///
/// Devices that connected together would ask together, this time and each time after. So the schedule cuts a lifetime
/// into slots. A token gets, of the slots that its life allows, the one with the fewest tokens. Of equal slots it gets
/// the latest, because a token that is used longer saves a signature. Chance alone would leave a busiest moment of
/// twice the mean.
struct Renewals: Sendable {
    private struct Plan {
        let version: Int64
        let slot: Int64
        /// The times of the renewal and of the token's end, in seconds since 1970.
        let due, end: Int64
    }

    /// The shortest time before its end that a token is renewed, in seconds.
    private static let least: Int64 = 20
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

/// The schedule of asks for connected devices without a live token: their stream's own ask failed, or their token
/// expired while nothing could be minted. A value without a clock.
///
/// While nothing can be asked for, nothing is planned. Once it can, the asks are spread, so that the devices of a
/// whole outage do not ask together.
struct BareStreams: Sendable {
    private struct Plan {
        /// The time of the next ask, in microseconds since 1970.
        var due: Int64
        var tries = 0
    }

    /// The time that a stream's own ask has, and the shortest time over which asks are spread, in microseconds.
    private static let start: Int64 = 2_000_000
    /// The shortest and the longest pause between two asks, in microseconds. Up to twice as long is waited.
    private static let pauses: ClosedRange<Int64> = 5_000_000...30_000_000

    private var plans: [[UInt8]: Plan] = [:]

    /// Returns the subjects of `bare` to ask for at `now`. Subjects that are not in `bare` are forgotten.
    ///
    /// - Parameters:
    ///   - isHeld: whether nothing can be asked for.
    ///   - rate: the number of subjects that begin to be asked for in a second.
    mutating func due(
        _ bare: [[UInt8]], at now: UnixTime, isHeld: Bool, rate: Int, using random: inout some RandomNumberGenerator
    ) -> [[UInt8]] {
        guard !isHeld, !bare.isEmpty else {
            plans = [:]
            return []
        }
        let fresh = bare.count { plans[$0] == nil }
        let span = max(Self.start, Int64(fresh) * 1_000_000 / Int64(max(1, rate)))
        var next: [[UInt8]: Plan] = [:]
        var due: [[UInt8]] = []
        for key in bare {
            var plan =
                plans[key]
                ?? Plan(due: now.microseconds + Self.start + Int64.random(in: 0...span, using: &random))
            if plan.due <= now.microseconds {
                due.append(key)
                let pause = min(Self.pauses.lowerBound << min(plan.tries, 3), Self.pauses.upperBound)
                plan.due = now.microseconds + Int64.random(in: pause...(pause * 2), using: &random)
                plan.tries += 1
            }
            next[key] = plan
        }
        plans = next
        return due
    }

    /// Notes that the ask for `key` was refused at `now`, for `seconds` at least.
    mutating func refused(
        _ key: [UInt8], for seconds: Int, at now: UnixTime, using random: inout some RandomNumberGenerator
    ) {
        let pause = min(Int64(clamping: max(1, seconds)) * 1_000_000, Self.pauses.upperBound)
        plans[key]?.due = now.microseconds + Int64.random(in: pause...(pause * 2), using: &random)
    }
}
