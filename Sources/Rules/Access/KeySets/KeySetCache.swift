/// The known state of a key set that an issuer hosts, and the rules for fetching it again. A value without a clock: it
/// records events and returns the next action, and fetches nothing itself.
///
/// The difficult case is a token whose `kid` is not in the set, or whose signature is not that key's. Its key may be new,
/// or the `kid` made up. The issuer publishes a key before it signs with it. So a set that was requested after the token
/// was issued, as the token itself states, decides at once: it has the key, or the issuer withdrew it. A token can only
/// get itself refused by what it states. Of a token that is newer than the set, or states no time, only a set requested
/// *after* the token was shown decides:
///
/// - The first caller begins a fetch and waits for it. A `kid` that is not in that set either is certainly unknown.
/// - A caller that asks during a fetch waits for it too. If the new set does not have the key, the set may be older
///   than the key, and the caller must retry later.
/// - A caller that asks in the cool-down after a fetch must retry when it is over: then one fetch decides.
///
/// A made-up `kid` therefore costs the issuer at most one request per cool-down. No caller with a new key is refused:
/// that caller waits up to a cool-down.
///
/// A set without any usable key is an answer as well: all earlier keys become invalid. It does not show that a session
/// has another issuer, so every caller gets "later". The gateway fetches the set again as soon as after a failed fetch.
struct KeySetCache: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// A caller's place in the queue for a fetch.
    struct Ticket: Sendable, Equatable {
        let fetch: Int
        /// The first fetch that began after the caller had asked.
        let firstCertain: Int
    }

    enum Action: Sendable {
        /// To answer with these. If `isRefreshDue`, a fetch has begun as well, which nobody waits for.
        case keys(KeyCandidates, isRefreshDue: Bool)
        case fetch(Ticket)
        /// To wait for the end of the fetch that is under way, and `settle`.
        case wait(Ticket)
        /// To answer so. No key can have such an id.
        case unknown
        case later(Duration)
    }

    private struct Held: Sendable {
        let set: KeySet
        let generation: Int
        let begun: Instant
        let freshUntil: Instant
        let usableUntil: Instant
    }

    private var times: KeySetTimes
    private var held: Held?
    /// Fetches are numbered from 1.
    private var lastFetch = 0
    private var underWaySince: Instant?
    private var lastSuccess = 0
    /// The moment before which no fetch begins; nil before the first fetch.
    private var nextFetch: Instant?
    private var lastBegin: Instant?
    private(set) var failures = 0
    /// The sets without a usable key that came since the last that had one.
    private var withdrawals = 0
    /// The moment at which a set last came, even one without a usable key; nil before the first.
    private(set) var fetchedAt: Instant?

    init(_ times: KeySetTimes) { self.times = times }

    /// A cache with `times` that goes on with what `other`, a cache of the same place, knows.
    ///
    /// - Parameters:
    ///   - set: the keys of the latest document that came to `other`, by the rules of now; nil where none is usable.
    ///   - maxAge: the time for which that document declares itself fresh.
    init(_ times: KeySetTimes, after other: KeySetCache, holding set: KeySet?, maxAge: Duration?) {
        self = other
        self.times = times
        // The fetch that is under way is the other cache's.
        underWaySince = nil
        guard let fetchedAt else { return }
        held = set.map { set in
            let freshUntil = fetchedAt.advanced(by: times.lifetime(maxAge))
            return Held(
                set: set, generation: lastFetch, begun: other.held?.begun ?? fetchedAt, freshUntil: freshUntil,
                usableUntil: freshUntil.advanced(by: times.staleFor))
        }
        withdrawals = set == nil ? max(withdrawals, 1) : 0
    }

    var set: KeySet? { held?.set }

    /// Returns whether the set is not fresh any more, but may still be used.
    func isStale(at now: Instant) -> Bool { held.map { $0.freshUntil <= now && now < $0.usableUntil } ?? false }

    /// Returns whether there is a set that is not too old to be used.
    func isUsable(at now: Instant) -> Bool { held.map { now < $0.usableUntil } ?? false }

    /// Whether the latest set that came has no usable key.
    var lacksKeys: Bool { withdrawals > 0 }

    /// Returns whether the latest set does not contain the key with this thumbprint.
    func isWithdrawn(_ thumbprint: String) -> Bool { lacksKeys || held.map { !$0.set.holds(thumbprint) } ?? false }

    func hasEnded(_ fetch: Int) -> Bool { fetch < lastFetch || (fetch == lastFetch && underWaySince == nil) }

    /// Returns the time until `beginIfDue` has something to do; a second at least.
    func nextDue(at now: Instant) -> Duration {
        guard underWaySince == nil else { return .seconds(1) }
        let due = max(held?.freshUntil ?? now, nextFetch ?? now)
        return max(now.duration(to: due), .seconds(1))
    }

    // MARK: What happens

    /// Returns the action for a caller that asks for the keys of `keyID` in a set later than `generation`, for a token
    /// that was issued at least `age` ago.
    mutating func lookUp(
        _ keyID: String?, after generation: Int?, age: Duration? = nil, at now: Instant
    ) -> Action {
        dropTooOld(at: now)
        if let candidates = candidates(for: keyID, after: generation) {
            return .keys(candidates, isRefreshDue: beginIfDue(at: now))
        }
        if let keyID, keyID.utf8.count > KeySet.longestKeyID { return .unknown }
        if isSettled(age, at: now) { return .unknown }
        if let underWaySince {
            guard underWaySince.duration(to: now) < times.maxWait else { return .later(.seconds(1)) }
            return .wait(Ticket(fetch: lastFetch, firstCertain: lastFetch + 1))
        }
        guard begin(at: now) else { return .later(wait(at: now)) }
        return .fetch(Ticket(fetch: lastFetch, firstCertain: lastFetch))
    }

    /// Returns the answer to a caller that waited. It never has to wait again.
    mutating func settle(
        _ ticket: Ticket, _ keyID: String?, after generation: Int?, age: Duration? = nil, at now: Instant
    ) -> KeyAnswer {
        dropTooOld(at: now)
        if let candidates = candidates(for: keyID, after: generation) { return .keys(candidates) }
        return lastSuccess >= ticket.firstCertain || isSettled(age, at: now) ? .unknown : .later(wait(at: now))
    }

    /// Begins a fetch if the set is missing or not fresh any more, and one may begin.
    ///
    /// - Returns: whether the caller has to fetch.
    mutating func beginIfDue(at now: Instant) -> Bool {
        dropTooOld(at: now)
        if let held, now < held.freshUntil { return false }
        return begin(at: now)
    }

    /// The next step to a fetch that was requested while fetch `last` was the latest one.
    enum Refresh: Sendable, Equatable {
        case fetch
        /// A fetch began after the request.
        case done
        /// None may begin before this time has passed.
        case wait(Duration)
    }

    var latestFetch: Int { lastFetch }

    /// Begins a fetch after fetch `last`, whether the set is fresh or not.
    ///
    /// - Parameter atOnce: whether the cool-down does not count.
    mutating func refresh(after last: Int, atOnce: Bool, at now: Instant) -> Refresh {
        if lastFetch > last { return .done }
        if atOnce, underWaySince == nil { nextFetch = nil }
        return begin(at: now) ? .fetch : .wait(wait(at: now))
    }

    /// Records that the fetch returned a set, which declares itself fresh for `maxAge`.
    mutating func fetched(_ set: KeySet, maxAge: Duration?, at now: Instant) {
        let freshUntil = now.advanced(by: times.lifetime(maxAge))
        held = Held(
            set: set, generation: lastFetch, begun: lastBegin ?? now, freshUntil: freshUntil,
            usableUntil: freshUntil.advanced(by: times.staleFor))
        lastSuccess = lastFetch
        fetchedAt = now
        failures = 0
        withdrawals = 0
        underWaySince = nil
        nextFetch = lastBegin?.advanced(by: times.coolDown)
    }

    /// Records that the fetch returned a set without a usable key: the issuer has withdrawn every earlier key.
    mutating func withdrew(at now: Instant) {
        held = nil
        fetchedAt = now
        failures = 0
        withdrawals = min(withdrawals + 1, 1000)
        underWaySince = nil
        nextFetch = now.advanced(by: times.pause(after: withdrawals))
    }

    /// Records that the fetch failed, or returned no key set.
    mutating func failed(at now: Instant) {
        failures = min(failures + 1, 1000)
        underWaySince = nil
        let retry = now.advanced(by: times.pause(after: failures))
        // Without a set nobody can be served: it is tried again sooner.
        let coolDownEnd = held == nil ? retry : lastBegin?.advanced(by: times.coolDown) ?? retry
        nextFetch = max(retry, coolDownEnd)
    }

    /// Returns the known keys of `keyID` in a set later than `generation`.
    func candidates(for keyID: String?, after generation: Int?) -> KeyCandidates? {
        guard let held, held.generation > generation ?? 0 else { return nil }
        return held.set.candidates(for: keyID, generation: held.generation)
    }

    // MARK: Steps

    /// Returns whether the set was requested after a token of this age was issued.
    private func isSettled(_ age: Duration?, at now: Instant) -> Bool {
        guard let held, let age else { return false }
        return held.begun.duration(to: now) < age
    }

    private mutating func begin(at now: Instant) -> Bool {
        guard underWaySince == nil, nextFetch.map({ $0 <= now }) ?? true else { return false }
        lastFetch += 1
        underWaySince = now
        lastBegin = now
        return true
    }

    private func wait(at now: Instant) -> Duration {
        max(nextFetch.map { now.duration(to: $0) } ?? .zero, .seconds(1))
    }

    private mutating func dropTooOld(at now: Instant) {
        if let held, held.usableUntil <= now { self.held = nil }
    }
}

/// The times of fetching a key set, and of serving the last one.
public struct KeySetTimes: Sendable {
    /// The time for which a set is fresh if its document gives no `max-age`.
    public var refreshEvery = Duration.seconds(600)
    /// The bounds on a document's own freshness (`max-age`).
    public var freshness = Duration.seconds(60) ... .seconds(86_400)
    /// The least time between the beginnings of two fetches while there is a set, whatever is asked for.
    public var coolDown = Duration.seconds(30)
    /// The time for which a stale set serves while it cannot be fetched.
    public var staleFor = Duration.seconds(86_400)
    /// The pause after a first fetch that failed, or that brought no usable key; it doubles with each that does.
    public var firstRetry = Duration.seconds(1)
    /// The longest pause after such a fetch.
    public var longestRetry = Duration.seconds(60)
    /// The longest time that callers wait for a fetch. Callers that ask later than that into a fetch must retry later.
    public var maxWait = Duration.seconds(10)

    /// The default times.
    public init() {}

    /// Returns the time for which a set is fresh whose document gives `maxAge`.
    func lifetime(_ maxAge: Duration?) -> Duration {
        guard let maxAge else { return refreshEvery }
        return min(max(maxAge, freshness.lowerBound), freshness.upperBound)
    }

    /// Returns the pause after `failures` fetches in a row that failed, or that returned no usable key.
    func pause(after failures: Int) -> Duration {
        var pause = firstRetry
        for _ in 1..<max(failures, 1) {
            guard pause < longestRetry else { break }
            pause *= 2
        }
        return min(pause, longestRetry)
    }
}
