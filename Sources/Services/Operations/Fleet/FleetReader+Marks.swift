import AdapterKit
import Kafka
import Pipeline

extension FleetReader {
    /// The most waiting offsets of a lane that are read, to count the records among them.
    static let mostRead: Int64 = 1000

    /// Returns `lag` in records where few offsets wait. A transaction ends with a mark, which has an offset and which no group
    /// commits, so that a lane without work would never reach zero. The figures stay as they are where the topics cannot be read.
    ///
    /// Also returns the time of the oldest waiting record; nil where none was read.
    func withoutMarks(
        _ lag: [TopicPartition: Int64], _ lane: Lane
    ) async -> (lag: [TopicPartition: Int64], oldest: UnixTime?) {
        let behind = lag.filter { $0.value > 0 }
        guard !behind.isEmpty, behind.values.reduce(0, +) <= Self.mostRead,
            let bounds = try? await consumers[lane].bounds(of: Array(behind.keys), within: Self.timeout)
        else { return (lag, nil) }
        var (result, oldest) = (lag, Int64?.none)
        for (topic, partitions) in Dictionary(grouping: behind.keys, by: \.topic) {
            guard let starts = Self.starts(of: partitions, behind, bounds),
                let found = try? await records(in: topic, partitions, from: starts)
            else { continue }
            result.merge(found.counts) { _, count in count }
            oldest = [oldest, found.oldest].compactMap(\.self).min()
        }
        return (result, oldest.map { UnixTime(milliseconds: $0) })
    }

    /// Returns the offsets from which the last ones of `partitions` are read, `behind` of each, in the order of the partitions; nil if
    /// the brokers returned no bounds of one of them, which would be read from its beginning.
    static func starts(
        of partitions: [TopicPartition], _ behind: [TopicPartition: Int64], _ bounds: [TopicPartition: Range<Int64>]
    ) -> [Int64]? {
        var starts = Array(repeating: Int64(0), count: Int(partitions.map(\.partition).max() ?? 0) + 1)
        for partition in partitions {
            guard let bounds = bounds[partition] else { return nil }
            starts[Int(partition.partition)] = bounds.upperBound - (behind[partition] ?? 0)
        }
        return starts
    }

    /// Returns the number of committed records of `partitions`, each from its place in `starts` on, and the oldest one's time.
    private func records(
        in topic: String, _ partitions: [TopicPartition], from starts: [Int64]
    ) async throws -> (counts: [TopicPartition: Int64], oldest: Int64?) {
        let reader = try await TopicReader(
            topic, from: starts, configuration, brokers: brokers, maxWait: .zero, maxStall: Self.maxStall,
            logger: logger)
        var counts = Dictionary(partitions.map { ($0, Int64(0)) }) { first, _ in first }
        var oldest: Int64?
        let hidden = try await reader.readVisible(partitions) { record, _, _ in
            counts[TopicPartition(record.position), default: 0] += 1
            oldest = [oldest, record.timestamp].compactMap(\.self).min()
        }
        // Behind an open transaction, the number of records is unknown.
        if let hidden { throw hidden }
        return (counts, oldest)
    }
}
