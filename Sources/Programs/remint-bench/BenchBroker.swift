import ArgumentParser
import CommandKit
import Kafka
import Logging

/// The broker at which a worker is measured, and the worker's way of delivery.
struct BenchBroker {
    /// `bootstrap.servers`.
    let servers: String
    /// `delivery` of the configuration.
    let delivery: String
    /// The broker within this process, where it is that one.
    let embedded: EmbeddedBroker?
    let logger: Logger

    /// The options that name it.
    struct Options: ParsableArguments {
        @Option(help: "Address of a real cluster (host:port), or embedded. The embedded broker delivers at least once.")
        var brokers = "embedded"
        @Option(help: "Delivery of the worker: exactly_once or at_least_once.") var delivery: String?

        var isEmbedded: Bool { brokers == "embedded" }

        func validate() throws {
            guard ["exactly_once", "at_least_once", nil].contains(delivery) else {
                throw ValidationError("--delivery is exactly_once or at_least_once")
            }
            if !isEmbedded { _ = try brokerList(brokers) }
            guard !isEmbedded || delivery != "exactly_once" else {
                throw ValidationError(
                    "the embedded broker isolates no transaction: --brokers host:port for exactly_once")
            }
        }

        /// Runs `body` with the broker, which is there as long as that takes.
        func withBroker<Result>(_ body: (BenchBroker) async throws -> Result) async throws -> Result {
            let logger = Logger.quiet
            guard isEmbedded else {
                return try await body(
                    BenchBroker(
                        servers: brokers, delivery: delivery ?? "exactly_once", embedded: nil, logger: logger))
            }
            let broker = try EmbeddedBroker(logger: logger)
            do {
                let result = try await body(
                    BenchBroker(
                        servers: broker.bootstrapServers, delivery: "at_least_once", embedded: broker, logger: logger))
                await broker.close()
                return result
            } catch {
                await broker.close()
                throw error
            }
        }
    }
}

extension Logger {
    /// A logger for problems only, on standard error.
    static var quiet: Logger {
        Logger(label: "remint-bench") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .warning
            return handler
        }
    }
}
