import ArgumentParser
import Logging
import WorkerConfiguration

extension Configuration {
    /// - Throws: `ValidationError` where the broker lives in another process and is not named, or `brokers` is no list of addresses.
    func brokers(instead brokers: String?) throws -> String {
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
