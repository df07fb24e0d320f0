import Kafka
import Pipeline
import Synchronization

/// The tables of the last reading of the token topic, for a command that reads it several times: the next reading goes
/// on behind them, because a record only changes by a later one.
///
/// Nothing is kept of a partition that was read in slices, of which an open transaction hid a part, or with tokens
/// outside of their subjects' partitions. Those are read from their start every time.
final class KnownTables: Sendable {
    /// A table and the offset up to which it was read.
    struct Table {
        var table: LedgerTable
        let next: Int64
    }

    private struct State {
        var tables: [TopicPartition: Table] = [:]
        var partitions = 0
    }

    private let state = Mutex(State())
    /// The limit on the memory of all tables, in bytes.
    private let limit: Int

    /// No tables yet.
    ///
    /// - Parameter memory: the limit on the memory of all tables, in bytes.
    init(memory: Int) { limit = memory }

    /// The offset of each partition from which the topic is to be read; nil where nothing is known.
    var starts: [Int64]? {
        state.withLock { state in
            guard !state.tables.isEmpty else { return nil }
            var starts = [Int64](repeating: 0, count: state.partitions)
            for (partition, known) in state.tables where starts.indices.contains(Int(partition.partition)) {
                starts[Int(partition.partition)] = known.next
            }
            return starts
        }
    }

    /// Whether a reading from `starts` with these `bounds` goes on where the tables end. It does not where partitions
    /// were added, which moves subjects to other partitions, and where the topic is shorter than it was: then it was
    /// created again.
    func precede(_ bounds: [TopicPartition: Range<Int64>]) -> Bool {
        state.withLock { state in
            guard state.partitions == bounds.count else { return false }
            return state.tables.allSatisfy { known in
                // Records that were deleted meanwhile are in the table.
                bounds[known.key].map { $0.lowerBound >= known.value.next } ?? false
            }
        }
    }

    /// Removes and returns the table of `partition`.
    func take(_ partition: TopicPartition) -> LedgerTable? {
        state.withLock { $0.tables.removeValue(forKey: partition)?.table }
    }

    /// Keeps the table of `partition` of a topic with `count` partitions, if there is memory for it.
    func keep(_ table: LedgerTable, of partition: TopicPartition, among count: Int, next: Int64) {
        state.withLock { state in
            if state.partitions != count { state = State(partitions: count) }
            let kept = state.tables.values.reduce(0) { $0 + $1.table.bytes }
            guard kept + table.bytes <= limit else { return }
            state.tables[partition] = Table(table: table, next: next)
        }
    }

    /// Forgets all tables.
    func forget() { state.withLock { $0.tables = [:] } }
}
