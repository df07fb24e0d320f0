package import AdapterKit
import Kafka
package import Logging
import Pipeline
import Worker
package import WorkerConfiguration

/// Reads the token topic as a ledger.
package struct LedgerReader {
    private let configuration: Configuration
    private let brokers: String
    private let logger: Logger
    private let display: any ProgressDisplay

    /// A reader of the token topic at `brokers`, which shows on `display` how far it is.
    package init(_ configuration: Configuration, brokers: String, logger: Logger, display: any ProgressDisplay) {
        self.configuration = configuration
        self.brokers = brokers
        self.logger = logger
        self.display = display
    }

    /// - Throws: `KafkaError` or `MissingTopic`.
    package func read() async throws -> Ledger {
        var ledger = Ledger()
        try await each { record, key in
            ledger.take(
                key: record.key, headers: record.headers,
                isTombstone: record.value == nil, partition: record.position.partition, offset: record.position.offset)
            return "\(ledger.subjectCount) subjects"
        }
        return ledger
    }

    /// The subject keys of the subjects whose newest token `filter` means, those that end first in front.
    ///
    /// - Throws: `KafkaError` or `MissingTopic`.
    package func keys(in ledger: Ledger, matching filter: LedgerFilter, at now: UnixTime) async throws -> [[UInt8]] {
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
        var progress = display
        defer { progress.clear() }
        let reader = try await TopicReader(
            configuration.topics.tokens, configuration, brokers: brokers, logger: logger)
        try await reader.readAll { record, done, all in
            let note = body(record, record.key ?? [])
            progress.show(done, of: all, note)
        }
    }
}
