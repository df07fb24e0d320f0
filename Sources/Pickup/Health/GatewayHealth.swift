import Access
import AdapterKit
import HTTPTransport
import Logging
import Synchronization
import Telemetry

/// Where the gateway's readiness comes from: it gathers the facts, and logs those that nobody else does.
final class GatewayHealth: Sendable {
    private struct State {
        var isStopping = false
        var isClosing = false
        var sessions: [FetchedKeys]
        var certificateEnd: UnixTime?
        var hasExpired = false
        var silentSince: UnixTime?
    }

    private let follower: TokenFollower
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let state: Mutex<State>

    /// - Parameters:
    ///   - sessions: the session issuers' keys; empty where only backends ask.
    ///   - certificateEnd: the end of the certificate that devices see; nil for plain text.
    init(
        follower: TokenFollower, sessions: [FetchedKeys], certificateEnd: UnixTime?,
        logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        self.follower = follower
        self.logger = logger
        self.now = now
        state = Mutex(State(sessions: sessions, certificateEnd: certificateEnd))
    }

    /// How many records were followed.
    var followedRecords: Int { follower.records }

    /// The states of the session issuers' keys; empty where only backends ask.
    var sessions: [FetchedKeys.Condition] { state.withLock { $0.sessions }.map(\.condition) }

    /// When the certificate that devices see ends; nil for plain text.
    var certificateEnd: UnixTime? { state.withLock { $0.certificateEnd } }

    /// The readiness of this moment.
    var readiness: Readiness {
        let (isStopping, sessions, end) = state.withLock { ($0.isStopping, $0.sessions, $0.certificateEnd) }
        return Readiness(
            Readiness.Facts(
                isStopping: isStopping, tail: follower.tail,
                sessions: sessions.map(\.condition), certificateEnd: end), at: now())
    }

    /// The configuration or the certificate was replaced.
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

    /// Logs, once for each change, that no broker answers or one does again, and that the certificate has expired or was replaced.
    func report() {
        let now = now()
        let silentSince = follower.tail.silentSince
        let (silence, expiry) = state.withLock { state in
            let before = (state.silentSince, state.hasExpired)
            state.silentSince = silentSince
            state.hasExpired = state.certificateEnd.map { $0 <= now } ?? false
            return ((before.0, silentSince), (before.1, state.hasExpired))
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
}
