package import AdapterKit
import Kafka
package import Logging
import Pipeline
package import WorkerConfiguration

/// Reads the token topic as a ledger, partition by partition, with a table of bounded size.
///
/// A subject's tokens are all in one partition, as long as the topic's partitions stay as many as they are. Where they were
/// increased, a token that was left in a subject's old partition counts beside its newer one until it ends.
package struct LedgerReader {
    private let configuration: Configuration
    private let brokers: String
    private let memory: Int
    private let patience: Duration
    private let logger: Logger
    private let display: any ProgressDisplay

    /// What the table takes at most where nothing else is said, in bytes.
    package static let standardMemory = 192 << 20

    /// A reader of the token topic at `brokers`, which shows on `display` how far it is.
    ///
    /// - Parameters:
    ///   - memory: what the table takes at most, in bytes; the Kafka client takes some 64 MB besides.
    ///   - patience: the longest time to wait for an open transaction that hides a part of the topic.
    package init(
        _ configuration: Configuration, brokers: String, memory: Int = Self.standardMemory,
        patience: Duration = TopicReader.standardPatience, logger: Logger, display: any ProgressDisplay
    ) {
        self.configuration = configuration
        self.brokers = brokers
        self.memory = memory
        self.patience = patience
        self.logger = logger
        self.display = display
    }

    /// Returns the tokens that live at `now` and that `filter` means, and the offsets that open transactions hide.
    ///
    /// - Throws: `KafkaError` or `MissingTopic`.
    package func holdings(
        at now: UnixTime, matching filter: LedgerFilter = LedgerFilter()
    ) async throws -> LedgerHoldings {
        var holdings = LedgerHoldings()
        holdings.hidden = try await eachTable(readings: 1, at: now) { table, _, _ in
            holdings.add(table, matching: filter, at: now)
        }
        return holdings
    }

    /// The subject keys of the subjects whose newest token `filter` means, those that end first in front, and what open transactions
    /// hide.
    ///
    /// - Throws: `KafkaError` or `MissingTopic`.
    package func keys(
        matching filter: LedgerFilter, at now: UnixTime
    ) async throws -> (keys: [[UInt8]], hidden: HiddenOffsets?) {
        let (holders, hidden) = try await holders(matching: filter, at: now)
        return (holders.map(\.key), hidden)
    }

    /// The subjects whose newest token `filter` means, those that end first in front, and what open transactions hide.
    ///
    /// - Throws: `KafkaError` or `MissingTopic`.
    package func holders(
        matching filter: LedgerFilter, at now: UnixTime
    ) async throws -> (holders: [LedgerHolder], hidden: HiddenOffsets?) {
        var found: [LedgerHolder] = []
        let hidden = try await eachTable(readings: 2, at: now) { table, partition, turns in
            try await turns.read(partition) { record in
                guard let key = record.key,
                    let end = table.end(key: key, offset: record.position.offset, matching: filter, at: now)
                else { return }
                // The table took the same record at the same time, so it can be read.
                let issued = (try? PublishedToken(record.body, at: now))?.issuedAt ?? 0
                found.append(LedgerHolder(key: key, issuedAt: issued, expiresAt: end))
            }
        }
        found.sort { $0.expiresAt < $1.expiresAt }
        return (found, hidden)
    }

    /// Calls `body` with the table of each slice of each partition.
    ///
    /// - Parameters:
    ///   - readings: how often each is read in all, `body`'s included.
    ///   - now: what versions and times are held against.
    /// - Returns: what open transactions hide of the topic.
    private func eachTable(
        readings: Int, at now: UnixTime, _ body: (LedgerTable, TopicPartition, inout LedgerTurns) async throws -> Void
    ) async throws -> HiddenOffsets? {
        let reader = try await TopicReader(
            configuration.topics.tokens, configuration, brokers: brokers, logger: logger)
        let plan = reader.bounds.sorted { $0.key.partition < $1.key.partition }.map { partition, bounds in
            (partition, bounds.count, LedgerPlan.slices(records: bounds.count, memory: memory))
        }
        var turns = LedgerTurns(reader, total: plan.reduce(0) { $0 + $1.1 * $1.2.count * readings }, patience, display)
        defer { turns.end() }
        for (partition, records, slices) in plan {
            for slice in slices {
                var table = LedgerTable(slice, subjects: LedgerPlan.room(records: records, slices: slices.count))
                try await turns.read(partition) { record in
                    table.take(record.body, offset: record.position.offset, at: now)
                }
                try await body(table, partition, &turns)
            }
        }
        return turns.hidden
    }
}

/// The readings of a topic's partitions, one after the other, and how far they are together.
private struct LedgerTurns {
    private let reader: TopicReader
    private let total: Int
    private var passed = 0
    private var display: any ProgressDisplay
    /// The time that is left for waiting for open transactions, in all partitions together.
    private var patience: Duration
    /// The offsets that they hide, by partition.
    private var hiddenOffsets: [TopicPartition: HiddenOffsets] = [:]

    init(_ reader: TopicReader, total: Int, _ patience: Duration, _ display: any ProgressDisplay) {
        self.reader = reader
        self.patience = patience
        self.total = total
        self.display = display
    }

    /// Reads every record of `partition`.
    mutating func read(_ partition: TopicPartition, _ each: (ConsumedRecord) -> Void) async throws {
        let before = passed
        let hidden = try await reader.readVisible([partition], within: patience) { record, done, _ in
            each(record)
            display.show(before + done, of: total, "\(before + done) of \(total) offsets")
        }
        if let hidden {
            // Several readings of a partition hide the same; the next partition's transaction had its time, too.
            hiddenOffsets[partition] = hiddenOffsets[partition] ?? hidden
            patience = .zero
        }
        passed += reader.bounds[partition]?.count ?? 0
    }

    /// The offsets that open transactions hide of the topic.
    var hidden: HiddenOffsets? {
        let parts = hiddenOffsets.sorted { $0.key.partition < $1.key.partition }.map(\.value)
        return parts.dropFirst().reduce(into: parts.first) { $0?.add($1) }
    }

    mutating func end() { display.clear() }
}
