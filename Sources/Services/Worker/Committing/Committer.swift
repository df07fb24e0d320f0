import AdapterKit
import Kafka
import Pipeline
import Synchronization

/// Publishes the outputs of a commit unit and commits the offsets of its events.
protocol Committer: Sendable {
    /// The producer of the outputs, which knows the brokers' times and throttles.
    var producer: KafkaProducer { get }

    /// Publishes and commits a unit, however long it takes. Offsets that are not committed together with the records stay open.
    ///
    /// - Parameter additions: The batches that join the unit while its records are being delivered.
    func commit(_ unit: CommitUnit, _ additions: Additions) async -> CommitResult

    func commitOffsets() async

    /// Commits the offsets that the broker refused before partitions were given up.
    func commitLeftOffsets() async

    /// Whether there are any for which partitions are kept.
    var hasOpenOffsets: Bool { get async }

    /// Returns whether the topic of a blockage can be written again. The check leaves nothing that a reader sees.
    func isCleared(_ blockage: Blockage) async -> BlockageCheck
}

extension Committer {
    func commit(_ unit: CommitUnit) async -> CommitResult { await commit(unit, Additions()) }

    // A transaction has its offsets, and leaves none to commit apart.
    func commitOffsets() async {}
    func commitLeftOffsets() async {}
    var hasOpenOffsets: Bool { get async { false } }
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
    case blocked(KafkaError)
    case unusable(KafkaError)
    /// Another producer took over the `transactional.id`.
    case fenced(KafkaError)
}

extension CommitResult {
    /// The result of a transaction that can be neither committed nor aborted.
    init(ended error: KafkaError) { self = error.isFenced ? .fenced(error) : .unusable(error) }
}

extension BlockageCheck {
    init(ended error: KafkaError) { self = error.isFenced ? .fenced(error) : .unusable(error) }
}

/// The batches added to a transaction while its records are being delivered.
///
/// It closes once no addition is left to deliver. The transaction commits or gives back everything added until then. It
/// accepts nothing afterwards.
final class Additions: Sendable {
    private enum State {
        case open(CommitUnit?)
        case closed
    }

    private let state = Mutex(State.open(nil))

    /// Adds to the transaction.
    ///
    /// - Returns: whether that was in time.
    func offer(_ addition: CommitUnit) -> Bool {
        state.withLock { state in
            guard case .open(let waiting) = state else { return false }
            var all = waiting ?? addition
            if waiting != nil { all.add(addition) }
            state = .open(all)
            return true
        }
    }

    /// Returns the additions since the last call. If there are none, it closes and returns nil.
    func takeOrClose() -> CommitUnit? {
        state.withLock { state in
            guard case .open(let waiting) = state else { return nil }
            state = waiting == nil ? .closed : .open(nil)
            return waiting
        }
    }
}

/// The time in which a commit may wait for a topic that cannot be written. The loop ends it when partitions are revoked
/// or the worker stops.
final class CommitWindow: Sendable {
    private let over = Atomic(false)

    var isOver: Bool {
        get { over.load(ordering: .relaxed) }
        set { over.store(newValue, ordering: .relaxed) }
    }
}

/// The reaction that an error of a transactional call requires.
///
/// The order of the questions matters: librdkafka 2.0.2 marks some fencing errors as merely requiring an abort, and an
/// error without any mark is as final as a fatal one.
enum TransactionVerdict: Sendable, Equatable {
    /// Stop, because another producer took over.
    case fenced
    /// The clients are of no further use: make new ones.
    case unusable
    /// Abort, and take the events again.
    case abort
    /// Repeat the same call, with the same arguments, after a moment.
    case retry

    init(_ error: KafkaError) {
        if error.isFenced {
            self = .fenced
        } else if error.isFatal {
            self = .unusable
        } else if error.requiresAbort {
            self = .abort
        } else if error.isRetriable {
            self = .retry
        } else {
            self = .unusable
        }
    }
}

/// Aborts that come one after the other for the same reason, which are no accident.
struct EqualAborts {
    private static let told = 3
    private var code: KafkaError.Code?
    private var count = 0

    /// Counts an abort.
    ///
    /// - Returns: Whether the worker logs this one.
    mutating func isTelling(_ code: KafkaError.Code) -> Bool {
        count = self.code == code ? count + 1 : 1
        self.code = code
        return count == Self.told
    }
}

/// The commits that show whether topics can be written. A commit of offsets alone, without any record, does not show it.
struct PublishingProof {
    private var isPublishing = false
    /// Whether records of an aborted unit have not been published since.
    private var isOwing = false

    /// Notes that the commit of `unit` begins.
    mutating func began(_ unit: CommitUnit) { isPublishing = unit.isPublishing }

    /// Notes that `unit` was added to the one that is being committed.
    mutating func added(_ unit: CommitUnit) { isPublishing = isPublishing || unit.isPublishing }

    mutating func aborted() { isOwing = isOwing || isPublishing }

    /// Notes that partitions went to other workers, which publish the records of an aborted unit.
    mutating func gavePartitionsUp() { isOwing = false }

    /// Notes that `unit` was committed.
    ///
    /// - Returns: Whether no record is left that could not be published.
    mutating func committed(_ unit: CommitUnit) -> Bool {
        if unit.isPublishing { isOwing = false }
        return !isOwing
    }
}

extension CommitUnit {
    var isPublishing: Bool { batches.contains { $0.settlements.contains { $0.output != nil } } }
}
