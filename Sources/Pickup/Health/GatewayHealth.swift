import Access
import AdapterKit
import HTTPTransport
import Logging
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
        var unansweredSince: UnixTime?
        var lanePausedSince: UnixTime?
    }

    private let follower: TokenFollower
    private let workers: WorkerWatch
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let state: Mutex<State>

    /// - Parameters:
    ///   - sessions: the session issuers' keys; empty where only backends call.
    ///   - certificateEnd: the end of the certificate that devices see; nil for plain text.
    init(
        follower: TokenFollower, workers: WorkerWatch, sessions: [FetchedKeys], certificateEnd: UnixTime?,
        logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        self.follower = follower
        self.workers = workers
        self.logger = logger
        self.now = now
        state = Mutex(State(sessions: sessions, certificateEnd: certificateEnd))
    }

    /// The number of records that were followed.
    var followedRecords: Int { follower.records }

    /// The states of the session issuers' keys; empty where only backends call.
    var sessions: [FetchedKeys.Condition] { state.withLock { $0.sessions }.map(\.condition) }

    /// The end of the certificate that devices see; nil for plain text.
    var certificateEnd: UnixTime? { state.withLock { $0.certificateEnd } }

    /// The present readiness.
    var readiness: Readiness {
        let (isStopping, sessions, end) = state.withLock { ($0.isStopping, $0.sessions, $0.certificateEnd) }
        return Readiness(
            Readiness.Facts(
                isStopping: isStopping, tail: follower.tail, workersAbsentSince: workers.absentSince,
                unansweredSince: follower.unansweredSince,
                areWorkersUnknown: workers.isGroupUnknown && !follower.hasSeenWorkers, lanePause: follower.lanePause,
                clockDifference: follower.clockDifference,
                sessions: sessions.map(\.condition), certificateEnd: end), at: now())
    }

    /// Replaces the sessions and the certificate after a reload.
    func replace(sessions: [FetchedKeys], certificateEnd: UnixTime?) {
        state.withLock { state in
            state.sessions = sessions
            state.certificateEnd = certificateEnd
        }
    }

    /// Whether the gateway was told to stop.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Whether streams and waiting calls are being sent away, so that none may begin.
    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Records that streams and waiting calls are about to be sent away.
    func beginClosing() { state.withLock { $0.isClosing = true } }

    /// Records that the gateway was told to stop.
    func stop() { state.withLock { $0.isStopping = true } }

    // MARK: Logging

    /// Logs, once for each change, a problem that no other part logs, and its end.
    func report() {
        reportClock()
        reportAnswers()
        let now = now()
        let (silentSince, absentSince) = (follower.tail.silentSince, workers.absentSince)
        let (silence, absence, expiry) = state.withLock { state in
            let before = (state.silentSince, state.workersAbsentSince, state.hasExpired)
            (state.silentSince, state.workersAbsentSince) = (silentSince, absentSince)
            state.hasExpired = state.certificateEnd.map { $0 <= now } ?? false
            return ((before.0, silentSince), (before.1, absentSince), (before.2, state.hasExpired))
        }
        switch absence {
        case (nil, _?):
            logger.error("no worker is in the group; live tokens that are known are served, and nothing new is minted")
        case (let start?, nil):
            let length = Duration.microseconds(now.microseconds(since: start))
            logger.notice("a worker is in the group again", metadata: [LogKey.outage: "\(Outage.text(length))"])
        default: break
        }
        switch silence {
        case (nil, _?):
            logger.error("no broker answers; live tokens that are known are served, and nothing new is minted")
        case (let start?, nil):
            let length = Duration.microseconds(now.microseconds(since: start))
            logger.notice("the brokers answer again", metadata: [LogKey.outage: "\(Outage.text(length))"])
        default: break
        }
        switch expiry {
        case (false, true):
            logger.error("the certificate of pickup.tls has expired; devices refuse to connect until it is replaced")
        case (true, false): logger.notice("the certificate of pickup.tls is valid again")
        default: break
        }
    }

    private func reportAnswers() {
        let pause = follower.lanePause
        let since = pause == nil ? follower.unansweredSince : nil
        reportLane(pause?.since)
        let before = state.withLock { state in
            defer { state.unansweredSince = since }
            return state.unansweredSince
        }
        switch (before, since) {
        case (nil, _?):
            logger.error("no worker answers; live tokens that are known are served, and nothing new is minted")
        case (let start?, nil) where pause == nil:
            let length = Duration.microseconds(now().microseconds(since: start))
            logger.notice("workers answer again", metadata: [LogKey.outage: "\(Outage.text(length))"])
        default: break
        }
    }

    private func reportLane(_ since: UnixTime?) {
        let before = state.withLock { state in
            defer { state.lanePausedSince = since }
            return state.lanePausedSince
        }
        switch (before, since) {
        case (nil, _?):
            logger.error(
                "an operator paused the live lane; live tokens that are known are served, and nothing new is minted")
        case (let start?, nil):
            let length = Duration.microseconds(now().microseconds(since: start))
            logger.notice("the live lane is not paused any more", metadata: [LogKey.outage: "\(Outage.text(length))"])
        default: break
        }
    }

    private func reportClock() {
        let isWrong = follower.clockDifference != nil
        let wasWrong = state.withLock { state in
            defer { state.isClockWrong = isWrong }
            return state.isClockWrong
        }
        if isWrong, !wasWrong {
            logger.error(
                "this clock and the records of the token topic differ; sessions and tokens are judged by a wrong time")
        } else if wasWrong, !isWrong {
            logger.notice("this clock and the records of the token topic agree again")
        }
    }
}
