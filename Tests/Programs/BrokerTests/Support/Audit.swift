import AsyncTestSupport
import Kafka
import Testing

/// The final count: the records of the input topics against those that a reader finds in the output topics.
struct Audit: Sendable {
    /// The number of events in the input topics.
    var events = 0
    /// The events of all outcomes, one that has several as often.
    var answered: [String] = []
    var missing: [String] = []
    var doubled: [String] = []
    /// Outcomes of another kind than the event's, or of no event at all.
    var wrong: [String] = []
    /// Outcomes that were written and are not visible: those of aborted transactions.
    var aborted = 0

    /// Counts everything there is. All workers must have exited.
    init(_ shop: Shop) async throws {
        let inputs = try await TopicReader.records(of: shop.partitions(of: shop.topics.inputs))
        let outputs = try await TopicReader.records(of: shop.partitions(of: shop.topics.outcomes))
        let written = try await TopicReader.records(
            of: shop.partitions(of: shop.topics.outcomes), isolation: .uncommitted)
        aborted = written.count - outputs.count
        answered = outputs.compactMap(\.eventID)
        let ids = inputs.compactMap(\.eventID)
        events = ids.count
        try #require(Set(ids).count == ids.count, "the feed sent an event twice")
        var ends: [String: [EventMix.End]] = [:]
        for record in outputs {
            let end = record.position.topic == shop.topics.tokens ? EventMix.End.token : .deadLetter
            ends[record.eventID ?? "an outcome without an id", default: []].append(end)
        }
        for id in ids {
            let found = ends.removeValue(forKey: id) ?? []
            if found.isEmpty { missing.append(id) }
            if found.count > 1 { doubled.append(id) }
            if let wanted = EventMix.end(of: id), found.contains(where: { $0 != wanted }) { wrong.append(id) }
        }
        wrong += ends.keys
    }

    /// Expects one outcome for each event, of its kind.
    func expectExactlyOnce() {
        #expect(missing.isEmpty, "\(missing.count) of \(events) events have no outcome")
        #expect(doubled.isEmpty, "\(doubled.count) of \(events) events have several outcomes")
        #expect(wrong.isEmpty, "\(wrong.count) outcomes are of the wrong kind")
    }
}

/// Reads topics from their beginnings to their ends.
enum TopicReader {
    /// Everything visible. Ends where nothing follows; an open transaction hides what comes after it.
    static func records(
        of partitions: [TopicPartition], isolation: Cluster.Isolation = .committed
    ) async throws -> [ConsumedRecord] {
        let consumer = try Cluster.makeReader(of: partitions, isolation: isolation)
        var open = Set(partitions)
        var records: [ConsumedRecord] = []
        while !open.isEmpty {
            try Task.checkCancellation()
            for event in await consumer.events(limit: 5000, within: .seconds(1)) {
                switch event {
                case .record(let record): records.append(record)
                case .endOfPartition(let partition, _): open.remove(partition)
                case .error(let error): if error.isFatal { throw error }
                case .rebalance: break
                }
            }
        }
        await consumer.close(within: .seconds(2))
        return records
    }

    /// Waits until there are `count` records.
    static func wait(for count: Int, on partitions: [TopicPartition]) async throws {
        let consumer = try Cluster.makeReader(of: partitions)
        var found = 0
        while found < count {
            try Task.checkCancellation()
            for event in await consumer.events(limit: 5000, within: .seconds(1)) {
                if case .record = event { found += 1 }
            }
        }
        await consumer.close(within: .seconds(2))
    }

    /// For each partition, the offset its next record will get.
    static func ends(of partitions: [TopicPartition]) async throws -> [TopicPartition: Int64] {
        let consumer = try Cluster.makeReader(of: partitions, isolation: .uncommitted)
        var ends: [TopicPartition: Int64] = [:]
        for partition in partitions {
            ends[partition] = try await consumer.bounds(of: partition, within: .seconds(10)).upperBound
        }
        await consumer.close(within: .seconds(2))
        return ends
    }

    /// For each partition, the next record `group` will read; 0 where it has read none.
    static func committed(
        _ partitions: [TopicPartition], by group: String
    ) async throws -> [TopicPartition: Int64] {
        let consumer = try Cluster.makeReader(of: partitions, group: group)
        let offsets = try await consumer.committed(partitions, within: .seconds(30))
        await consumer.close(within: .seconds(2))
        return Dictionary(uniqueKeysWithValues: partitions.map { ($0, offsets[$0] ?? 0) })
    }

    /// Waits until `group` has committed the present ends of `partitions`.
    static func waitUntilCommitted(_ partitions: [TopicPartition], by group: String) async throws {
        let ends = try await Self.ends(of: partitions)
        try await eventually("the commit of \(group)", within: .seconds(240)) {
            try await committed(partitions, by: group) == ends
        }
    }
}
