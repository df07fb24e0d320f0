import ArgumentParser
import Logging
import WorkerConfiguration

extension Configuration {
    /// Returns the brokers to ask: those of `brokers`, or the configured ones.
    ///
    /// - Throws: `ValidationError` where the broker lives in another process at an unknown port, or `brokers` is no list of addresses.
    func brokers(instead brokers: String?) throws -> String {
        if brokers == nil, let port = kafka.embeddedPort { return "127.0.0.1:\(port)" }
        guard brokers != nil || !kafka.isEmbedded else {
            throw ValidationError(
                "the embedded broker lives in another process; name its address, which that process logs, with --brokers"
            )
        }
        guard let brokers else { return kafka.bootstrapServers }
        return try brokerList(brokers)
    }
}

extension Logger {
    /// Returns a logger for a command: in text form, for problems only.
    static func quiet(_ log: Configuration.Log) -> Logger {
        var log = log
        log.format = .text
        if log.level == "info" { log.level = "warning" }
        return .remint(log)
    }
}
