import Access
import AdapterKit
import HTTPTransport
import Logging
import NIOCore
import Pipeline
import Synchronization
import Telemetry

/// The gateway's health: it gathers the facts of readiness, and logs problems that no other part logs.
final class GatewayHealth: Sendable {
    private struct State {
        var isStopping = false
        var isClosing = false
        var sessions: [FetchedKeys]
        var certificateEnd: UnixTime?
        var hasExpired = false
        var silentSince: UnixTime?
        var workersAbsentSince: UnixTime?
        var isClockWrong = false
        /// The start of the time without answers that was logged, and the time of that line.
        var unanswered: (since: UnixTime, logged: UnixTime)?
        var eventOutages: [String: UnixTime] = [:]
        var lanePausedSince: UnixTime?
        /// The first and the last refused connection of a crowd.
        var crowd: (since: UnixTime, last: UnixTime)?
        var crowdedSince: UnixTime?
    }

    /// The time without a refused connection after which a crowd is over, in seconds.
    private static let calm: Int64 = 10

    private let follower: TokenFollower
    private let workers: WorkerWatch
    private let store: TokenStore
    private let eventTopics: @Sendable () -> Set<String>
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let state: Mutex<State>

    /// - Parameters:
    ///   - sessions: the session issuers' keys; empty where only backends call.
    ///   - certificateEnd: the end of the certificate that devices see; nil for plain text.
    init(
        follower: TokenFollower, workers: WorkerWatch, store: TokenStore,
        eventTopics: @escaping @Sendable () -> Set<String>, sessions: [FetchedKeys], certificateEnd: UnixTime?,
        logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        self.follower = follower
        self.workers = workers
        self.store = store
        self.eventTopics = eventTopics
        self.logger = logger
        self.now = now
        state = Mutex(State(sessions: sessions, certificateEnd: certificateEnd))
    }

    var followedRecords: Int { follower.records }

    /// The states of the session issuers' keys; empty where only backends call.
    var sessions: [FetchedKeys.Condition] { state.withLock { $0.sessions }.map(\.condition) }

    /// The end of the certificate that devices see; nil for plain text.
    var certificateEnd: UnixTime? { state.withLock { $0.certificateEnd } }

    var readiness: Readiness {
        let (isStopping, sessions, end) = state.withLock { ($0.isStopping, $0.sessions, $0.certificateEnd) }
        return Readiness(
            Readiness.Facts(
                isStopping: isStopping, tail: follower.tail, eventOutage: eventOutage,
                workersAbsentSince: workers.absentSince,
                unansweredSince: store.unansweredSince,
                areWorkersUnknown: workers.isGroupUnknown && !follower.hasSeenWorkers, lanePause: follower.lanePause,
                clockDifference: follower.clock.difference, crowdedSince: crowdedSince,
                sessions: sessions.map(\.condition), certificateEnd: end), at: now())
    }

    private var eventOutages: [EventRefusals.Outage] {
        let topics = eventTopics()
        return store.eventOutages.filter { topics.contains($0.topic) }
    }

    /// The outage that keeps the gateway from being ready: with one topic left, users of its apps are served.
    private var eventOutage: EventRefusals.Outage? {
        let outages = eventOutages
        guard outages.count >= eventTopics().count else { return nil }
        return outages.first(where: \.isOnTrial) ?? outages.first
    }

    func replace(sessions: [FetchedKeys], certificateEnd: UnixTime?) {
        state.withLock { state in
            state.sessions = sessions
            state.certificateEnd = certificateEnd
        }
    }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Whether streams and waiting calls are being sent away, so that none may begin.
    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Records that streams and waiting calls are about to be sent away.
    func beginClosing() { state.withLock { $0.isClosing = true } }

    func stop() { state.withLock { $0.isStopping = true } }

    func refusedConnection() {
        let (since, now) = (crowdedSince, now())
        state.withLock { $0.crowd = (since ?? now, now) }
    }

    private var crowdedSince: UnixTime? {
        let now = now()
        return state.withLock { $0.crowd }.flatMap { now < $0.last.advanced(bySeconds: Self.calm) ? $0.since : nil }
    }

    // MARK: Logging

    /// Logs, once for each change, a problem that no other part logs, and its end.
    func report() {
        reportClock()
        reportConnections()
        reportEvents()
        reportAnswers()
        let (silentSince, absentSince, now) = (follower.tail.silentSince, workers.absentSince, now())
        let hasExpired = certificateEnd.map { $0 <= now } ?? false
        switch (change(\.workersAbsentSince, to: absentSince), absentSince) {
        case (nil, _?):
            logger.error(
                "gateway.workers-absent",
                "no worker is in the group; live tokens that are known are served, and nothing new is minted")
        case (let start?, nil):
            logger.notice(
                "gateway.workers-present", "a worker is in the group again",
                metadata: length(since: start))
        default: break
        }
        switch (change(\.silentSince, to: silentSince), silentSince) {
        case (nil, _?):
            logger.error(
                "gateway.brokers-unreachable",
                "no broker answers; live tokens that are known are served, and nothing new is minted")
        case (let start?, nil):
            logger.notice(
                "gateway.brokers-reachable", "the brokers answer again",
                metadata: length(since: start))
        default: break
        }
        switch (change(\.hasExpired, to: hasExpired), hasExpired) {
        case (false, true):
            logger.error(
                "gateway.certificate-expired",
                "the certificate of pickup.tls has expired; devices refuse to connect until it is replaced")
        case (true, false): logger.notice("gateway.certificate-valid", "the certificate of pickup.tls is valid again")
        default: break
        }
    }

    /// - Returns: the value of before.
    private func change<Value: Sendable>(_ part: WritableKeyPath<State, Value>, to new: Value) -> Value {
        state.withLock { state in
            defer { state[keyPath: part] = new }
            return state[keyPath: part]
        }
    }

    private func length(since start: UnixTime) -> Logger.Metadata {
        [LogKey.outage: "\(Outage.text(.microseconds(now().microseconds(since: start))))"]
    }

    private func reportEvents() {
        // Silent brokers are reported by themselves.
        guard follower.tail.silentSince == nil else { return }
        let (outages, topics) = (eventOutages, eventTopics())
        let before = change(\.eventOutages, to: Dictionary(outages.map { ($0.topic, $0.since) }) { first, _ in first })
        for outage in outages where before[outage.topic] == nil {
            logger.error(
                "gateway.events-refused",
                "the brokers refuse the gateway's events; live tokens that are known are served, and nothing new is minted",
                metadata: [LogKey.topic: "\(outage.topic)", LogKey.kafkaError: "\(outage.code)"])
        }
        for (topic, start) in before.sorted(by: { $0.key < $1.key })
        where topics.contains(topic) && !outages.contains(where: { $0.topic == topic }) {
            logger.notice(
                "gateway.events-accepted", "the brokers accept the gateway's events again",
                metadata: length(since: start).merging([LogKey.topic: "\(topic)"]) { first, _ in first })
        }
    }

    private func reportAnswers() {
        let pause = follower.lanePause
        reportLane(pause?.since)
        // These are reported by themselves, and show nothing about answers.
        guard pause == nil, workers.absentSince == nil else { return }
        let (since, progress, now) = (store.unansweredSince, store.lastProgress, now())
        let before = state.withLock { $0.unanswered }
        if let since, before == nil {
            state.withLock { $0.unanswered = (since, now) }
            logger.error(
                "gateway.workers-silent",
                "no worker answers; live tokens that are known are served, and nothing new is minted")
        } else if let before, since == nil, let progress, progress > before.logged {
            state.withLock { $0.unanswered = nil }
            logger.notice(
                "gateway.workers-answering", "workers answer again",
                metadata: length(since: before.since))
        }
    }

    private func reportLane(_ since: UnixTime?) {
        let before = change(\.lanePausedSince, to: since)
        switch (before, since) {
        case (nil, _?):
            logger.error(
                "gateway.lane-paused",
                "an operator paused the live lane; live tokens that are known are served, and nothing new is minted")
        case (let start?, nil):
            logger.notice(
                "gateway.lane-pause-over", "the live lane is not paused any more",
                metadata: length(since: start))
        default: break
        }
    }

    private func reportConnections() {
        let since = crowdedSince
        let before = change(\.crowdedSince, to: since)
        if since != nil, before == nil {
            logger.error(
                "gateway.connections-refused", "connections are refused, because all are in use and none gives way")
        } else if let before, since == nil {
            logger.notice(
                "gateway.connections-accepted", "every new connection finds a place again",
                metadata: length(since: before))
        }
    }

    private func reportClock() {
        let isWrong = follower.clock.difference != nil
        let wasWrong = change(\.isClockWrong, to: isWrong)
        if isWrong, !wasWrong {
            logger.error(
                "gateway.clock-wrong",
                "this clock and the records of the token topic differ; sessions and tokens are judged by a wrong time")
        } else if wasWrong, !isWrong {
            logger.notice("gateway.clock-right", "this clock and the records of the token topic agree again")
        }
    }
}

/// Whether the event loops, which read and answer all calls, still run what they are given.
final class EventLoopPulse: Sendable {
    /// The age of an unanswered question at which its loop counts as stuck.
    static let stuckAfter = Duration.seconds(60)

    private let loops: [any EventLoop]
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The times of the unanswered questions, by the loop's place.
    private let open = Mutex<[Int: ContinuousClock.Instant]>([:])

    init(_ loops: [any EventLoop], now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.loops = loops
        self.now = now
    }

    /// Asks every loop that has no question open, and returns whether no loop is stuck.
    func isAlive() -> Bool {
        let now = now()
        for (place, loop) in loops.enumerated() where open.withLock({ $0[place] == nil }) {
            open.withLock { $0[place] = now }
            loop.execute { self.open.withLock { $0[place] = nil } }
        }
        return open.withLock { $0.values.allSatisfy { now - $0 < Self.stuckAfter } }
    }
}
