import Wiring
import AdapterKit
import Kafka
import Logging
import Pipeline
import Synchronization
import Telemetry
import WorkerConfiguration

/// Asks the coordinator of the workers' group regularly whether the group has members.
final class WorkerWatch: Sendable {
    private static let interval = Duration.seconds(4)
    private static let timeout = Duration.seconds(5)
    /// The pause after a question without an answer: the brokers are away, or they describe no groups.
    private static let pauseAfterFailure = Duration.seconds(15)

    private let properties: KafkaProperties
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let state = Mutex(WorkerPresence())
    private let isRenewalDue = Atomic(false)

    init(
        _ configuration: Configuration, brokers: String, logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        properties = KafkaProperties(configuration, bootstrapServers: brokers)
        self.logger = logger
        self.now = now
    }

    /// The moment from which no worker is in the group; nil while one is, or while it is unknown.
    var absentSince: UnixTime? { state.withLock { $0 }.absentSince(at: now()) }

    /// Replaces the client, because the files of its certificates changed.
    func renew() { isRenewalDue.store(true, ordering: .relaxed) }

    /// Watches until the task is canceled. Brokers that do not answer change nothing: readiness reports them by
    /// themselves.
    func run() async {
        let group = properties.group(of: .live)
        // A client of its own: a question makes the client's other work wait.
        var client: KafkaProducer?
        while !Task.isCancelled {
            var pause = Self.interval
            do throws(KafkaError) {
                if isRenewalDue.exchange(false, ordering: .relaxed) { await Self.end(&client) }
                if client == nil { client = try KafkaProducer(properties.producer, logger: logger) }
                let found = try await client?.consumerGroups([group], within: Self.timeout)[group]
                state.withLock { $0.record(members: found?.members.count, at: now()) }
            } catch { pause = Self.pauseAfterFailure }
            // The loop's condition checks for cancellation.
            try? await Task.sleep(for: pause)
        }
        await Self.end(&client)
    }

    private static func end(_ client: inout KafkaProducer?) async {
        await client?.close(within: .zero)
        client = nil
    }
}
