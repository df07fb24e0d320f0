import AdapterKit
import Kafka
import Logging
import Operations
import WorkerConfiguration

extension FleetView {
    /// The most dead letters that a worker reads to count them.
    private static let mostLetters = 20_000

    /// A view of the fleet with the configuration in effect, through clients that log nothing.
    ///
    /// - Parameter brokers: the brokers' address; nil until it is known.
    init(
        _ configuration: @escaping @Sendable () -> (configuration: Configuration, number: Int),
        brokers: @escaping @Sendable () -> String?, logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        var quiet = logger
        quiet.logLevel = .critical
        self.init(
            open: { [quiet] () throws(KafkaError) -> Source? in
                guard let brokers = brokers() else { return nil }
                let reader = try FleetReader(
                    configuration().configuration, brokers: brokers, mostLetters: Self.mostLetters, logger: quiet,
                    commitTime: CommitMetadata.time, now: now)
                return Source(
                    read: { () async throws(KafkaError) -> FleetStatus in try await reader.read() },
                    close: { await reader.close() })
            }, number: { configuration().number })
    }
}
