import AdapterKit
import Pipeline
import Synchronization

/// What the gateway knows of tokens and of apps that wait, and those who wait for them.
final class TokenDesk: Sendable {
    private struct State {
        var cache: TokenCache
        var suspensions: [String: Suspension] = [:]
        /// Streams that are told of each token of a subject.
        var listeners: [[UInt8]: [Int: AsyncStream<HeldToken>.Continuation]] = [:]
        var nextListener = 0
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> UnixTime
    let room = WaitingRoom()
    let asks = Mutex(AsksUnderWay())
    let probes = Mutex(ProbeAsks())

    init(capacity: Int, now: @escaping @Sendable () -> UnixTime) {
        state = Mutex(State(cache: TokenCache(capacity: capacity)))
        self.now = now
    }

    /// How many tokens are known, in how many bytes, and how many streams are open.
    var size: (tokens: Int, bytes: Int, streams: Int) {
        state.withLock { state in
            (state.cache.count, state.cache.bytes, state.listeners.reduce(0) { $0 + $1.value.count })
        }
    }

    // MARK: What workers say

    func published(_ token: HeldToken, for key: [UInt8]) {
        let now = now()
        let listeners: [AsyncStream<HeldToken>.Continuation]? = state.withLock { state in
            guard state.cache.put(token, for: key, at: now) else { return nil }
            return state.listeners[key].map { Array($0.values) } ?? []
        }
        guard let listeners else { return }
        for listener in listeners { listener.yield(token) }
        room.came(token, for: key)
    }

    func erased(_ key: [UInt8]) { state.withLock { $0.cache.remove(key) } }

    func died(_ letter: DeadLetterEntry, key: [UInt8]?) { room.died(letter, key: key) }

    func held(_ app: String, _ suspension: Suspension?) { state.withLock { $0.suspensions[app] = suspension } }

    // MARK: What callers ask

    /// The newest token of `key`, live or not.
    func newest(_ key: [UInt8]) -> HeldToken? { state.withLock { $0.cache[key] } }

    /// The live token of `key` with at least `life` seconds left.
    func live(_ key: [UInt8], life: Int64) -> HeldToken? {
        let now = now().seconds
        return newest(key).flatMap { $0.expiresAt >= now && $0.expiresAt - now >= life ? $0 : nil }
    }

    /// Why the events of `app` wait; nil where they do not.
    func suspension(of app: String) -> Suspension? {
        // A pause whose time is over ends by itself: nothing is written.
        state.withLock { $0.suspensions[app] }.flatMap { $0.isOver(at: now()) ? nil : $0 }
    }

    /// Forgets tokens that ended.
    func trim() {
        let now = now()
        state.withLock { $0.cache.trim(at: now) }
    }

    // MARK: Streams

    /// Every token of `key` from now on, the newest alone where its reader is slow.
    func listen(to key: [UInt8]) -> (number: Int, tokens: AsyncStream<HeldToken>) {
        let (stream, continuation) = AsyncStream.makeStream(of: HeldToken.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.nextListener += 1
            state.listeners[key, default: [:]][state.nextListener] = continuation
            return state.nextListener
        }
        return (number, stream)
    }

    /// Ends what `listen` began.
    func hush(_ number: Int, _ key: [UInt8]) {
        let continuation = state.withLock { state in
            let continuation = state.listeners[key]?.removeValue(forKey: number)
            if state.listeners[key]?.isEmpty == true { state.listeners[key] = nil }
            return continuation
        }
        continuation?.finish()
    }

    /// Ends a few streams at a time.
    ///
    /// - Returns: whether there are more.
    func hushSome(atMost count: Int) -> Bool {
        let (ended, hasMore) = state.withLock { state in
            var ended: [AsyncStream<HeldToken>.Continuation] = []
            while ended.count < count, let (key, listeners) = state.listeners.first {
                ended += listeners.values
                state.listeners[key] = nil
            }
            return (ended, !state.listeners.isEmpty)
        }
        for continuation in ended { continuation.finish() }
        return hasMore
    }

    /// The newest tokens of the subjects with open streams.
    var streamed: [(key: [UInt8], token: HeldToken)] {
        state.withLock { state in state.listeners.keys.compactMap { key in state.cache[key].map { (key, $0) } } }
    }
}
