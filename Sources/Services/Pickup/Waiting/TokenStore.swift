import AdapterKit
import Kafka
import Pipeline
import Synchronization

/// The gateway's knowledge of tokens and suspended apps, and the callers that wait for tokens.
final class TokenStore: Sendable {
    /// The streams of a subject, which get each of its tokens.
    private struct Listeners {
        let subject: Subject
        var streams: [Int: AsyncStream<HeldToken>.Continuation] = [:]
    }

    private struct State {
        var cache: TokenCache
        var suspensions: [String: Suspension] = [:]
        var listeners: [[UInt8]: Listeners] = [:]
        var nextListener = 0
        var tail = TailState()
        /// The time when the latest partition began to be followed: tokens published before may be unknown.
        var tailStart = UnixTime(seconds: 0)
        var lanePause: LanePause?

        func streams(of key: [UInt8]) -> [AsyncStream<HeldToken>.Continuation] {
            listeners[key].map { Array($0.streams.values) } ?? []
        }
    }

    private struct Told {
        let key: [UInt8]
        let token: HeldToken
        let streams: [AsyncStream<HeldToken>.Continuation]
    }

    private let state: Mutex<State>
    let now: @Sendable () -> UnixTime
    let waiters = TokenWaiters()
    let asks = Mutex(AsksUnderWay())
    let probes = Mutex(ProbeAsks())
    let progress = Mutex(AskProgress())
    let refusals = Mutex(EventRefusals())

    init(capacity: Int, now: @escaping @Sendable () -> UnixTime) {
        state = Mutex(State(cache: TokenCache(capacity: capacity)))
        self.now = now
    }

    /// The number of known tokens, their memory in bytes, and the number of open streams.
    var size: (tokens: Int, bytes: Int, streams: Int) {
        state.withLock { state in
            (state.cache.count, state.cache.bytes, state.listeners.reduce(0) { $0 + $1.value.streams.count })
        }
    }

    // MARK: Records of workers

    func published(_ token: HeldToken, for key: [UInt8]) {
        learn(key, token, isPast: false) { $0.put(token, for: key, at: $1) }
    }

    /// Adds a token of the past: the newest of its subject in its partition, unless a newer one is known. It counts at
    /// once or from a call of `pastReached` on.
    func recalled(_ token: HeldToken, for key: [UInt8]) {
        learn(key, token, isPast: true) { $0.recall(token, for: key, at: $1) && token.version >= $0.certain }
    }

    /// Notes that every partition was read back to `version`: tokens of the past count from there on, and callers that
    /// wait for one get it.
    func pastReached(_ version: Int64) {
        let before = state.withLock { state in
            let before = state.cache.certain
            state.cache.settlePast(from: version)
            return state.cache.certain < before ? before : nil
        }
        guard let before else { return }
        // Callers that begin to wait from here on see the tokens that count now.
        let waiting = waiters.keys
        let told = state.withLock { state in
            waiting.union(state.listeners.keys).compactMap { key -> Told? in
                guard state.cache.hasBecomeCertain(key, since: before), let token = state.cache[key] else { return nil }
                return Told(key: key, token: token, streams: state.streams(of: key))
            }
        }
        for told in told { tell(told, isPast: true) }
    }

    private func learn(
        _ key: [UInt8], _ token: HeldToken, isPast: Bool, _ change: (inout TokenCache, UnixTime) -> Bool
    ) {
        let now = now()
        let told: Told? = state.withLock { state in
            guard change(&state.cache, now) else { return nil }
            return Told(key: key, token: token, streams: state.streams(of: key))
        }
        if let told { tell(told, isPast: isPast) }
    }

    private func tell(_ told: Told, isPast: Bool) {
        for stream in told.streams { stream.yield(told.token) }
        waiters.came(told.token, for: told.key, isPast: isPast)
    }

    func erased(_ key: [UInt8]) { state.withLock { $0.cache.remove(key) } }

    /// Notes that a subject's tokens were erased in the past: tokens that may be older do not count.
    ///
    /// - Parameter version: the highest version that an older token may have.
    func erasedBefore(_ key: [UInt8], upTo version: Int64) {
        state.withLock { $0.cache.recallErasure(of: key, upTo: version) }
    }

    func died(_ letter: DeadLetterEntry, key: [UInt8]?) { waiters.died(letter, key: key) }

    func held(_ app: String, _ suspension: Suspension?) {
        state.withLock { state in
            // Anyone who may write the control topic may name any app.
            guard suspension == nil || state.suspensions.count < HeldWords.most || state.suspensions[app] != nil else {
                return
            }
            state.suspensions[app] = suspension
        }
    }

    /// Records the answer about the event of `ask`, the brokers' or the gateway's own, for every call that shares it.
    func delivered(_ ask: OutgoingAsk, _ word: Delivery.Word) {
        ask.ask.delivery.end(word)
        switch word {
        case .taken(let place):
            refusals.withLock { $0.accepted(ask.record.topic) }
            asks.withLock { $0.taken(ask.name, event: ask.ask.event, at: place) }
            if let place { waits(for: place, of: ask.record.topic) }
        case .refused(let problem):
            asks.withLock { $0.ended(ask.name, event: ask.ask.event) }
            waiters.unsent(ask.ask.event, problem)
        }
    }

    /// Records that an operator paused the live lane, or resumed it.
    func heldLane(_ pause: LanePause?) {
        state.withLock { $0.lanePause = pause }
        if pause == nil { resumeWorkers() }
    }

    /// The pause of the live lane; nil while events are taken.
    var lanePause: LanePause? {
        let now = now()
        let pause = state.withLock { $0.lanePause }
        if pause?.isOver(at: now) == true { heldLane(nil) }
        return pause?.isOver(at: now) == true ? nil : pause
    }

    // MARK: How far they are heard

    /// The partitions that are followed, and the time since which no broker answers.
    var tail: TailState { state.withLock { $0.tail } }

    func changeTail(_ change: (inout TailState) -> Void) { state.withLock { change(&$0.tail) } }

    /// Notes that partitions begin to be followed from their ends; their older records are read beside.
    func tailBegins() {
        let now = now()
        state.withLock { state in
            state.tailStart = max(state.tailStart, now)
            state.cache.openPast()
        }
    }

    /// Whether tokens of the past are taken.
    var takesPast: Bool { state.withLock { $0.cache.takesPast } }

    /// Notes that the past was read as far as needed.
    func pastEnds() { state.withLock { $0.cache.closePast() } }

    /// Returns the highest version that an unknown token of `key` can have, as far as the clocks agree.
    func unseen(of key: [UInt8]) -> Int64 {
        state.withLock { state in
            max(0, state.tailStart.microseconds, state.cache.forgotten, state.cache.highestVersion(of: key) ?? 0)
        }
    }

    // MARK: What callers ask

    /// Returns the newest token of `key`, live or not.
    func newest(_ key: [UInt8]) -> HeldToken? { state.withLock { $0.cache[key] } }

    /// Returns the live token of `key` with at least `life` seconds left.
    func live(_ key: [UInt8], life: Int64) -> HeldToken? {
        let now = now().seconds
        return newest(key).flatMap { $0.expiresAt > now && $0.expiresAt - now >= life ? $0 : nil }
    }

    /// Returns the suspension that makes the events of `app` wait; nil where they do not wait.
    func suspension(of app: String) -> Suspension? {
        // A pause whose time is over ends without a record.
        state.withLock { $0.suspensions[app] }.flatMap { $0.isOver(at: now()) ? nil : $0 }
    }

    /// Forgets expired tokens, and asks that no caller joins any more.
    func trim() {
        let now = now()
        state.withLock { $0.cache.trim(at: now) }
        asks.withLock { $0.sweep(at: now) }
    }

    // MARK: Streams

    /// Opens a stream of each token of `key`, the subject key of `subject`, from now on; a slow reader gets the newest
    /// alone.
    func listen(to key: [UInt8], of subject: Subject) -> (number: Int, tokens: AsyncStream<HeldToken>) {
        let (stream, continuation) = AsyncStream.makeStream(of: HeldToken.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.nextListener += 1
            state.listeners[key, default: Listeners(subject: subject)].streams[state.nextListener] = continuation
            return state.nextListener
        }
        return (number, stream)
    }

    /// Ends a stream that `listen` opened.
    func hush(_ number: Int, _ key: [UInt8]) {
        let continuation = state.withLock { state in
            let continuation = state.listeners[key]?.streams.removeValue(forKey: number)
            if state.listeners[key]?.streams.isEmpty == true { state.listeners[key] = nil }
            return continuation
        }
        continuation?.finish()
    }

    /// Ends at most `count` streams.
    ///
    /// - Returns: whether more streams are open.
    func hushSome(atMost count: Int) -> Bool {
        let (ended, hasMore) = state.withLock { state in
            var ended: [AsyncStream<HeldToken>.Continuation] = []
            while ended.count < count, let (key, listeners) = state.listeners.first {
                ended += listeners.streams.values
                state.listeners[key] = nil
            }
            return (ended, !state.listeners.isEmpty)
        }
        for continuation in ended { continuation.finish() }
        return hasMore
    }

    /// The subjects with open streams, and the newest token of each, without its text.
    var streamed: [(key: [UInt8], subject: Subject, token: HeldToken)] {
        state.withLock { state in
            state.listeners.compactMap { key, listeners in
                state.cache.outline(of: key).map { (key, listeners.subject, $0) }
            }
        }
    }

    /// The subjects with open streams and without a live token.
    var bare: [(key: [UInt8], subject: Subject)] {
        let now = now().seconds
        return state.withLock { state in
            state.listeners.compactMap { key, listeners in
                if let token = state.cache.outline(of: key), token.expiresAt > now { return nil }
                return (key, listeners.subject)
            }
        }
    }
}

extension TokenStore {
    /// Notes that the outcome of an event of `topic` is awaited.
    func waits(for place: DeliveredPlace, of topic: String) {
        let (now, partition) = (now(), TopicPartition(topic: topic, partition: place.partition))
        progress.withLock { $0.sent(partition, place.offset, at: now) }
    }

    /// The partitions whose events workers may not have handled yet, so that their committed offsets matter.
    var openPartitions: [TopicPartition] {
        let now = now()
        return progress.withLock { $0.open(at: now) }
    }

    /// Records the offsets that the workers' group committed for `partitions`, and ends the waits for events that
    /// workers are done with.
    ///
    /// - Parameter isRead: whether the tokens that were published before the answer were read.
    func committed(_ offsets: [TopicPartition: Int64], of partitions: [TopicPartition], isRead: Bool) {
        let now = now()
        let handled = progress.withLock { progress in
            progress.committed(offsets, of: partitions, isRead: isRead, at: now)
            return progress.handled
        }
        if !handled.isEmpty { waiters.handled(handled) }
    }

    /// Notes that workers begin now with the events that were sent before: a pause is over, or a worker is back.
    func resumeWorkers() {
        let now = now()
        progress.withLock { $0.resume(at: now) }
    }

    /// Records the description of a topic of events.
    ///
    /// - Parameter problem: the brokers' code; nil where nothing is wrong.
    func described(_ topic: String, problem: String?) {
        let now = now()
        let isNew = refusals.withLock { $0.described(topic, problem: problem, at: now) }
        if isNew { progress.withLock { $0.createdAgain(topic, at: now) } }
    }

    var eventOutages: [EventRefusals.Outage] {
        let now = now()
        return refusals.withLock { $0.outages(at: now) }
    }

    /// The moment from which no worker answers; nil where one does or it is unknown.
    var unansweredSince: UnixTime? {
        let now = now()
        return progress.withLock { $0.stuckSince(at: now) }
    }

    /// The moment of the workers' last known progress, or of a new start of a topic; nil where there was none.
    var lastProgress: UnixTime? { progress.withLock { $0.lastChange } }

    /// Whether workers handled an event since the start.
    var hasSeenProgress: Bool { progress.withLock { $0.hasMoved } }
}

/// The partitions of the token topic that are followed live, and the time since which no broker answers.
///
/// Readiness depends on the live tail alone: an unknown token is minted again, and arrives on the tail.
struct TailState: Sendable, Equatable {
    /// The number of partitions of the token topic; nil before a broker has named it.
    var partitions: Int?
    /// The partitions that are followed live: each token published on them from now on arrives.
    var followed: Set<Int32> = []
    /// The partitions without a leader. Their users get no new token until there is one; all other users do.
    var leaderless: Set<Int32> = []
    /// Whether the token topic does not exist or may not be read.
    var isMissing = false
    /// The time since which no broker answers; nil while one does. Without a broker no token can be minted; known ones
    /// are served.
    var silentSince: UnixTime?
    /// The end of each partition of the token topic when everything before it was read.
    var read: [TopicPartition: Int64] = [:]

    func hasRead(_ ends: [TopicPartition: Int64]) -> Bool { ends.allSatisfy { $0.value <= read[$0.key] ?? -1 } }

    /// Whether devices can be served: a broker answers, each partition with a leader is followed live, and at least one
    /// is.
    var isReady: Bool {
        guard silentSince == nil, let partitions, !followed.isEmpty else { return false }
        return followed.union(leaderless).count >= partitions
    }

    /// The number of partitions that have a leader and are not followed live yet; nil before a broker has named any.
    var behind: Int? { partitions.map { max(0, $0 - followed.union(leaderless).count) } }
}
