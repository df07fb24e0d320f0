import Kafka
import Synchronization

/// The reachability of the brokers, as far as the clients report it.
///
/// The clients report the loss of a connection and not its return. A worker without events checks by itself.
final class Reachability: Sendable {
    private struct State {
        var outage = BrokerOutage()
        var isAsking = false
        var nextQuestion: ContinuousClock.Instant
    }

    private static let interval = Duration.seconds(1)

    private let state: Mutex<State>
    private let observer: SessionObserver
    private let now: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant

    init(_ observer: SessionObserver, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.observer = observer
        self.now = now
        start = now()
        state = Mutex(State(nextQuestion: start))
    }

    private var elapsed: Duration { now() - start }

    /// Logs an outage once it lasts, until the task is canceled.
    func run() async {
        while (try? await Task.sleep(for: Self.interval)) != nil { check() }
    }

    func check() {
        state.withLock { state in
            if let notice = state.outage.check(at: elapsed) { observer.brokersChanged(notice) }
        }
    }

    func noted(_ error: KafkaError) {
        guard error.code == .allBrokersDown else {
            if error.code.isConnection { state.withLock { $0.outage.failed("\(error)") } }
            return
        }
        lost(error)
    }

    func lost(_ error: KafkaError) {
        state.withLock { state in
            if error.code != .allBrokersDown { state.outage.failed("\(error)") }
            state.outage.lost(at: elapsed)
            // Under the lock, so that the last report is true.
            observer.brokersLost(state.outage.reason ?? "\(error)")
        }
    }

    func succeeded() {
        state.withLock { state in
            if state.outage.isOngoing { observer.brokersFound() }
            if let notice = state.outage.ended(at: elapsed) { observer.brokersChanged(notice) }
        }
    }

    /// Asks the brokers for the metadata of `topic` for 15 seconds, and notes every five that they do not answer.
    func metadata(of topic: String, from producer: KafkaProducer) async throws(KafkaError) -> TopicMetadata {
        let end = now() + .seconds(15)
        while true {
            do throws(KafkaError) { return try await producer.metadata(of: topic, within: .seconds(5)) } catch {
                let error = error.explained(by: producer.lastError)
                guard error.code.isConnection else { throw error }
                lost(error)
                guard now() < end else { throw error }
            }
        }
    }

    /// Whether a question to the brokers is due; a caller that gets true must call `asked`.
    var isQuestionDue: Bool {
        state.withLock { state in
            guard state.outage.isOngoing, !state.isAsking, now() >= state.nextQuestion else { return false }
            state.isAsking = true
            return true
        }
    }

    func asked(isAnswered: Bool) {
        state.withLock { state in
            state.isAsking = false
            state.nextQuestion = now() + .seconds(2)
        }
        if isAnswered { succeeded() }
    }
}

/// The time in which no broker is reachable. A value without a clock: times are lengths since any moment that the caller
/// keeps to.
///
/// The clients report lost connections by dozens, and no client reports their return. An operator gets one line for the
/// loss, once it has lasted for some seconds, and one for its end.
struct BrokerOutage: Sendable {
    enum Notice: Sendable, Equatable {
        case lost(for: Duration, String)
        case back(after: Duration)
    }

    /// The length of an outage from which it is logged. Brokers that close idle connections, or change places, are back
    /// sooner.
    static let minimumLength = Duration.seconds(5)

    private var start: Duration?
    private var isLogged = false
    private(set) var reason: String?

    var isOngoing: Bool { start != nil }

    mutating func failed(_ reason: String) { self.reason = reason }

    mutating func lost(at now: Duration) { start = start ?? now }

    mutating func check(at now: Duration) -> Notice? {
        guard let start, !isLogged, now - start >= Self.minimumLength else { return nil }
        isLogged = true
        return .lost(for: now - start, reason ?? "no reason is known")
    }

    /// Records that a broker answered.
    ///
    /// - Returns: the line about the outage's end; nil if its start was not logged.
    mutating func ended(at now: Duration) -> Notice? {
        defer { self = BrokerOutage() }
        guard let start, isLogged else { return nil }
        return .back(after: max(.zero, now - start))
    }
}
