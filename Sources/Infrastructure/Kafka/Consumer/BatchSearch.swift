package import Logging

/// The search for the offset behind a record batch that cannot be unpacked.
///
/// The error of such a batch names its first offset alone; its length is in its header, which librdkafka does not show. A fetch
/// from any offset of a batch meets the whole batch. So the search tries offsets: further and further ones, then halves.
struct BatchSearch {
    /// The highest offset that is known to be one of the batch.
    private var inside: Int64
    /// The lowest offset that is known to be behind the batch.
    private(set) var end: Int64
    private var step: Int64 = 1

    /// - Parameters:
    ///   - first: an offset of the batch.
    ///   - end: the end of the partition.
    init(first: Int64, end: Int64) {
        inside = max(0, first)
        self.end = max(end, RecordPosition.next(after: inside))
    }

    /// The offset to try next; nil once `end` is the offset behind the batch.
    var probe: Int64? { end - inside > 1 ? inside + min(step, (end - inside) / 2) : nil }

    /// Notes that `offset` is one of the batch.
    mutating func isInside(_ offset: Int64) {
        inside = min(max(inside, offset), end - 1)
        step = min(step, .max / 2) * 2
    }

    /// Notes that `offset` is behind the batch.
    mutating func isBehind(_ offset: Int64) { end = max(RecordPosition.next(after: inside), min(end, offset)) }
}

extension KafkaConsumer {
    /// Returns the offset behind the record batch at `place`, which cannot be unpacked: the next one that can be read, or the
    /// partition's end. A client of its own looks for it.
    ///
    /// - Parameter properties: the properties of a reader that reports the ends of partitions.
    /// - Throws: `KafkaError` when the brokers do not answer in time.
    package static func end(
        ofBatchAt place: RecordPosition, _ properties: ClientProperties, within limit: Duration, logger: Logger
    ) async throws(KafkaError) -> Int64 {
        // Each offset is tried once, so the client need not wait between two tries.
        let reader = try KafkaConsumer(
            properties.merging(["fetch.error.backoff.ms": "10"]), reading: [], logger: logger)
        return try await reader.whileOpen(closingWithin: .zero) { reader throws(KafkaError) in
            let (partition, deadline) = (TopicPartition(place), ContinuousClock.now + limit)
            _ = try await reader.metadata(of: place.topic, within: limit)
            let bounds: Range<Int64> = try await reader.bounds(of: partition, within: max(.zero, deadline - .now))
            var search = BatchSearch(first: place.offset, end: bounds.upperBound)
            while let probe = search.probe {
                let start = PartitionOffset(partition, offset: probe)
                try await reader.assignedPartitions.isEmpty ? reader.read([start]) : reader.seek(to: [start])
                if try await reader.isBatch(at: place, of: probe, until: deadline) {
                    search.isInside(probe)
                } else {
                    search.isBehind(probe)
                }
            }
            return search.end
        }
    }

    /// Returns whether the batch at `place` has the offset `probe`, from which the consumer reads.
    private func isBatch(
        at place: RecordPosition, of probe: Int64, until deadline: ContinuousClock.Instant
    ) async throws(KafkaError) -> Bool {
        while .now < deadline, !Task.isCancelled {
            for event in await events(limit: 1, within: .milliseconds(200)) {
                switch event {
                case .record, .endOfPartition: return false
                case .error(let error):
                    if let batch = error.batch { return batch.offset <= place.offset }
                    if error.endsReading { throw error }
                case .rebalance: break
                }
            }
        }
        throw .overdue("looking for the end of the record batch at offset \(place.offset) of \(TopicPartition(place))")
    }
}
