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

    /// Notes what the store holds now.
    mutating func note(_ store: TokenStore) {
        let use = store.asks.withLock { $0.count } + store.waiters.count
        if peak >= Self.least, use < peak / 4 {
            Heap.giveBack()
            peak = use
        }
        peak = max(peak, use)
    }
}

/// The parts of a subject key.
enum TokenTopicKey {
    /// Returns the app, the first part of the key.
    static func app(of key: [UInt8]) -> String? {
        let name = key.prefix { $0 != UInt8(ascii: "/") }
        return String(validating: name, as: UTF8.self)
    }
}
