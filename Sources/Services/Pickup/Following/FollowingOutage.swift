import HTTPTransport
import Logging
import Synchronization
import Telemetry

/// The log of times in which the topics cannot be followed: one line for each reason, and one at the end.
final class FollowingOutage: Sendable {
    private let logger: Logger
    private let start = ContinuousClock.now
    private let state = Mutex(Outage())

    init(_ logger: Logger) { self.logger = logger }

    /// Records that the topics cannot be followed.
    func failed(_ error: any Error) {
        let elapsed = elapsed
        guard case .failed(let reason)? = state.withLock({ $0.failed("\(error)", at: elapsed) }) else { return }
        logger.warning(
            "gateway.topics-unreadable", "the topics cannot be followed; it is tried again",
            metadata: [LogKey.kafkaError: "\(reason)"])
    }

    /// Records that the topics are followed.
    func succeeded() {
        let elapsed = elapsed
        guard case .recovered(let length)? = state.withLock({ $0.succeeded(at: elapsed) }) else { return }
        logger.notice(
            "gateway.topics-readable", "the topics are followed again",
            metadata: [LogKey.outage: "\(Outage.text(length))"])
    }

    private var elapsed: Duration { .now - start }
}
