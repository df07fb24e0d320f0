import AdapterKit
import Kafka
import Pipeline

/// Publishes the outputs of a commit unit and commits the offsets of its events.
protocol Committer: Sendable {
    /// Publishes and commits a unit, however long it takes. Offsets that are not committed together with the records stay open.
    ///
    /// - Parameter additions: The batches that join the unit while its records are being delivered.
    func commit(_ unit: CommitUnit, _ additions: Additions) async -> CommitResult

    func commitOffsets() async

    /// Commits the offsets that the broker refused before partitions were given up.
    func commitLeftOffsets() async

    /// Whether there are any for which partitions are kept.
    var hasOpenOffsets: Bool { get async }

    /// Returns a broker's time of a record that was delivered since the last call; nil where none shows it.
    func takeAppendTime() -> AppendTime?

    /// The longest time of late for which a broker made the producer wait because of a quota.
    var throttle: Duration { get }

    /// Returns whether the topic of a blockage can be written again. The check leaves nothing that a reader sees.
    func isCleared(_ blockage: Blockage) async -> BlockageCheck
}

extension Committer {
    /// Commits a transaction to which nothing is added.
    func commit(_ unit: CommitUnit) async -> CommitResult { await commit(unit, Additions()) }
}

enum CommitResult: Sendable {
    /// Everything is visible. The transaction as it was committed: some ends may have become smaller.
    case committed(CommitUnit)
    /// Nothing is visible; the same events may be tried again. The error is the reason.
    case aborted(KafkaError)
    /// Nothing is visible, and will not be until a topic can be written.
    case blocked(Blockage)
    /// The result is unknown, and the clients are of no further use: new ones start from the broker's offsets.
    case unusable(KafkaError)
    /// Another producer took over this one's `transactional.id`.
    case fenced(KafkaError)
}

/// Topics of which at least one cannot be written.
struct Blockage: Sendable {
    let error: KafkaError
    /// A record for each of the topics, to try again with.
    let records: [ProducerRecord]

    var topic: String { records.map(\.topic).joined(separator: ", ") }

    /// The topics of `records` cannot be written, or one of them.
    init(_ error: KafkaError, _ records: [ProducerRecord]) {
        self.error = error
        var topics: Set<String> = []
        self.records = records.filter { topics.insert($0.topic).inserted }
    }
}

enum BlockageCheck: Sendable {
    case cleared
    /// The topic still accepts no records.
    case blocked(KafkaError)
    /// The clients are of no further use.
    case unusable(KafkaError)
    /// Another producer took over the `transactional.id`.
    case fenced(KafkaError)
}

extension CommitResult {
    /// The result of a transaction that can be neither committed nor aborted.
    init(ended error: KafkaError) { self = error.isFenced ? .fenced(error) : .unusable(error) }
}

extension BlockageCheck {
    /// The result of a check that cannot be finished properly.
    init(ended error: KafkaError) { self = error.isFenced ? .fenced(error) : .unusable(error) }
}
