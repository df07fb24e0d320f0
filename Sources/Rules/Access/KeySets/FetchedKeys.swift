public import JOSE
import Synchronization

/// Keys at a URL or in a file, fetched when they are needed and before they are too old.
///
/// They are fetched only while `run` runs, one set at a time. Callers wait at most for a fetch, whose time limit
/// belongs to the fetching closure, or until their deadline; a caller whose task is canceled stops waiting. Before
/// `run` and after it, unknown keys are `.later`. `KeySetCache` decides about fetches and waiting callers.
public final class FetchedKeys: KeySource {
    /// The condition of a set, for operators.
    public struct Condition: Sendable, Hashable {
        /// The number of keys; 0 while there is no set.
        public let keys: Int
        /// The number of skipped members of the set.
        public let skipped: Int
        /// Whether the set is not fresh any more.
        public let isStale: Bool
        /// The number of failed fetches since the last successful one.
        public let failures: Int
        /// The error in the last document; nil if the document was used, or if none came.
        public let problem: KeySetError?
        /// Whether the latest set that came has no usable key: the issuer has withdrawn them all, or never had one.
        public let lacksKeys: Bool
        /// The time since a set last came; nil before the first.
        public let age: Duration?
        /// Whether sessions can be checked: a set with a usable key came, and it is not too old to serve.
        public let isUsable: Bool

        /// Makes a condition with these values.
        package init(
            keys: Int = 0, skipped: Int = 0, isStale: Bool = false, failures: Int = 0, problem: KeySetError? = nil,
            lacksKeys: Bool = false, age: Duration?, isUsable: Bool
        ) {
            self.keys = keys
            self.skipped = skipped
            self.isStale = isStale
            self.failures = failures
            self.problem = problem
            self.lacksKeys = lacksKeys
            self.age = age
            self.isUsable = isUsable
        }
    }

    private struct State {
        var cache: KeySetCache
        var isRunning = false
        var problem: KeySetError?
        /// The latest document that is a key set, even one without a usable key; nil before the first.
        var document: KeySetDocument?
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    private let algorithms: Set<Algorithm>
    private let now: @Sendable () -> ContinuousClock.Instant
    private let pause: @Sendable (Duration) async throws -> Void
    private let fetch: @Sendable () async throws -> KeySetDocument
    private let ended: @Sendable ((any Error)?) -> Void
    private let state: Mutex<State>
    /// The requests for a fetch. One is kept at most, because there is never more than one fetch to make.
    private let wishes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// The requests for a fetch of a set that may be fresh: the latest fetch then, and whether the cool-down counts.
    private let refreshes = AsyncStream.makeStream(
        of: (after: Int, atOnce: Bool).self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - algorithms: The algorithms that the set's keys may verify with.
    ///   - now: A monotonic clock.
    ///   - pause: A function that returns after the given time, or throws when its task is canceled.
    ///   - fetch: A function that fetches the document or throws, within its own timeout of 10 seconds or less.
    ///   - ended: A function called after each fetch. It gets the reason if the fetch returned no key: the fetch's own
    ///     error, or a `KeySetError`. All but `KeySetError.noUsableKey` are failures, which leave the earlier keys
    ///     unchanged.
    ///   - other: Keys of the same place, fetched by other rules; the new ones begin with what they know. Nil for none.
    public init(
        algorithms: Set<Algorithm>, times: KeySetTimes = KeySetTimes(), after other: FetchedKeys? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        pause: @escaping @Sendable (Duration) async throws -> Void,
        fetch: @escaping @Sendable () async throws -> KeySetDocument,
        ended: @escaping @Sendable ((any Error)?) -> Void = { _ in }
    ) {
        self.algorithms = algorithms
        self.now = now
        self.pause = pause
        self.fetch = fetch
        self.ended = ended
        state = Mutex(other?.successor(algorithms, times) ?? State(cache: KeySetCache(times)))
    }

    /// Returns the state of keys that go on from here with other rules.
    private func successor(_ algorithms: Set<Algorithm>, _ times: KeySetTimes) -> State {
        let (cache, document) = state.withLock { ($0.cache, $0.document) }
        let set = document.flatMap { try? KeySet(parsing: $0.bytes, algorithms: algorithms) }
        var next = State(
            cache: KeySetCache(times, after: cache, holding: set, maxAge: document?.maxAge), document: document)
        if document != nil, set == nil { next.problem = .noUsableKey }
        return next
    }

    /// The current condition of the set.
    public var condition: Condition {
        let now = now()
        return state.withLock { state in
            Condition(
                keys: state.cache.set?.count ?? 0, skipped: state.cache.set?.skipped ?? 0,
                isStale: state.cache.isStale(at: now), failures: state.cache.failures, problem: state.problem,
                lacksKeys: state.cache.lacksKeys, age: state.cache.fetchedAt.map { $0.duration(to: now) },
                isUsable: state.cache.isUsable(at: now))
        }
    }

    // MARK: Asking

    /// Returns the keys for the key id, and fetches the set again if it may be too old.
    public func keys(
        for keyID: String?, after generation: Int?, age: Duration?, until deadline: ContinuousClock.Instant?
    ) async -> KeyAnswer {
        let ticket: KeySetCache.Ticket
        switch lookUp(keyID, after: generation, age) {
        case .keys(let candidates, let isRefreshDue):
            if isRefreshDue { wish() }
            return .keys(candidates)
        case .fetch(let own):
            wish()
            ticket = own
        case .wait(let common): ticket = common
        case .unknown: return .unknown
        case .later(let wait): return .later(wait)
        }
        await waitForEnd(of: ticket.fetch, until: deadline)
        let now = now()
        return state.withLock { $0.cache.settle(ticket, keyID, after: generation, age: age, at: now) }
    }

    /// Whether the newest set lacks the key of `thumbprint`.
    public func isWithdrawn(_ thumbprint: String) -> Bool {
        state.withLock { $0.cache.isWithdrawn(thumbprint) }
    }

    private func lookUp(_ keyID: String?, after generation: Int?, _ age: Duration?) -> KeySetCache.Action {
        let now = now()
        return state.withLock { state in
            if state.isRunning { return state.cache.lookUp(keyID, after: generation, age: age, at: now) }
            // Nobody would fetch.
            return state.cache.candidates(for: keyID, after: generation).map { .keys($0, isRefreshDue: false) }
                ?? .later(.seconds(1))
        }
    }

    private func waitForEnd(of fetch: Int, until deadline: ContinuousClock.Instant?) async {
        guard let deadline else { return await waitForEnd(of: fetch) }
        let limit = now().duration(to: deadline)
        guard limit > .zero else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForEnd(of: fetch) }
            // Canceled once the fetch has finished.
            group.addTask { _ = try? await self.pause(limit) }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForEnd(of fetch: Int) async {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    // A task is canceled before its handler runs, so the second of the two sees the first.
                    guard state.isRunning, !state.cache.hasEnded(fetch), !Task.isCancelled else { return false }
                    state.waiters[waiter] = continuation
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
        }
    }

    // MARK: Fetching

    /// Requests a fetch, whether the set is fresh or not.
    ///
    /// - Parameter atOnce: whether the cool-down does not count, as for a file, which costs its owner nothing.
    public func refresh(atOnce: Bool = false) {
        let last = state.withLock { $0.cache.latestFetch }
        refreshes.continuation.yield((last, atOnce))
    }

    /// Fetches the set, and again whenever it is due or requested, until its task is canceled. To be called once.
    public func run() async {
        state.withLock { $0.isRunning = true }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.keepFresh() }
            group.addTask { await self.grantWishes() }
            group.addTask { await self.grantRefreshes() }
        }
        let waiters = state.withLock { state in
            state.isRunning = false
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    private func wish() { wishes.continuation.yield() }

    private func grantWishes() async {
        await withDiscardingTaskGroup { retries in
            for await _ in wishes.stream {
                await fetchOnce()
                // `keepFresh` may pause until the set that was withdrawn would have been due.
                let now = now()
                let wait = state.withLock { $0.cache.lacksKeys ? $0.cache.nextDue(at: now) : nil }
                if let wait { retries.addTask { await self.retry(after: wait) } }
            }
            retries.cancelAll()
        }
    }

    private func grantRefreshes() async {
        for await (last, atOnce) in refreshes.stream {
            while case let step = refreshStep(after: last, atOnce: atOnce), step != .done {
                guard case .wait(let time) = step else { wish(); break }
                do { try await pause(time) } catch { return }
            }
        }
    }

    private func refreshStep(after last: Int, atOnce: Bool) -> KeySetCache.Refresh {
        let now = now()
        return state.withLock { $0.cache.refresh(after: last, atOnce: atOnce, at: now) }
    }

    private func retry(after wait: Duration) async {
        do { try await pause(wait) } catch { return }
        let now = now()
        if state.withLock({ $0.cache.beginIfDue(at: now) }) { wish() }
    }

    private func keepFresh() async {
        while !Task.isCancelled {
            let now = now()
            let (isDue, wait) = state.withLock { ($0.cache.beginIfDue(at: now), $0.cache.nextDue(at: now)) }
            if isDue { wish() }
            do { try await pause(wait) } catch { return }
        }
    }

    private func fetchOnce() async {
        var (set, document, failure) = (KeySet?.none, KeySetDocument?.none, (any Error)?.none)
        do {
            let fetched = try await fetch()
            document = fetched
            set = try KeySet(parsing: fetched.bytes, algorithms: algorithms)
        } catch { failure = error }
        // A fetch that ends with the task proves nothing about the issuer.
        if set != nil || !Task.isCancelled { ended(failure) }
        let now = now()
        let waiters = state.withLock { [set, document, problem = failure as? KeySetError] state in
            if set != nil || problem == .noUsableKey { state.document = document }
            if let set {
                state.cache.fetched(set, maxAge: document?.maxAge, at: now)
            } else if problem == .noUsableKey {
                state.cache.withdrew(at: now)
            } else {
                state.cache.failed(at: now)
            }
            state.problem = problem
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }
}
