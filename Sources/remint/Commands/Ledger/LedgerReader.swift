import AdapterKit
import ArgumentParser
import Kafka
import Logging
import Pipeline
import Worker
import WorkerConfiguration

/// Reads the token topic as a ledger.
struct LedgerReader {
    let configuration: Configuration
    let brokers: String
    let logger: Logger

    /// - Parameter brokers: instead of the configured ones.
    /// - Throws: `ValidationError` where the brokers must be named.
    init(_ configuration: Configuration, brokers: String?) throws {
        self.configuration = configuration
        self.brokers = try configuration.brokers(instead: brokers)
        logger = Logger.quiet(configuration.log)
    }

    /// - Throws: `KafkaError` or `MissingTopic`.
    func read() async throws -> Ledger {
        var ledger = Ledger()
        try await each { record, key in
            ledger.take(
                key: record.key, headers: record.headers.map { RecordHeader($0.name, $0.value) },
                isTombstone: record.value == nil, partition: record.position.partition, offset: record.position.offset)
            return "\(ledger.subjectCount) subjects"
        }
        return ledger
    }

    /// The subject keys of the subjects whose newest token `filter` means, those that end first in front.
    ///
    /// - Throws: `KafkaError` or `MissingTopic`.
    func keys(in ledger: Ledger, matching filter: LedgerFilter, at now: UnixTime) async throws -> [[UInt8]] {
        var found: [(end: Int64, key: [UInt8])] = []
        try await each { record, key in
            if let end = ledger.end(
                key: key, partition: record.position.partition, offset: record.position.offset, matching: filter,
                at: now)
            {
                found.append((end, key))
            }
            return "\(found.count) found"
        }
        found.sort { $0.end < $1.end }
        return found.map(\.key)
    }

    private func each(_ body: (ConsumedRecord, [UInt8]) -> String) async throws {
        var progress = ProgressLine()
        defer { progress.clear() }
        let reader = try await TopicReader(
            configuration.topics.tokens, configuration, brokers: brokers, logger: logger)
        try await reader.readAll { record, done, all in
            let note = body(record, record.key ?? [])
            progress.show(done, of: all, note)
        }
    }
}

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
