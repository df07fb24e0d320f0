import ArgumentParser
import Logging
import WorkerConfiguration

extension Configuration {
    /// - Throws: `ValidationError` where the broker lives in another process and is not named.
    func brokers(instead brokers: String?) throws -> String {
        guard brokers != nil || !kafka.isEmbedded else {
            throw ValidationError(
                "the embedded broker lives in another process; name its address, which that process logs, with --brokers"
            )
        }
        return brokers ?? kafka.bootstrapServers
    }
}

extension Logger {
    /// A logger for a command: in text, and of nothing but trouble.
    static func quiet(_ log: Configuration.Log) -> Logger {
        var log = log
        log.format = .text
        if log.level == "info" { log.level = "warning" }
        return .remint(log)
    }
}
