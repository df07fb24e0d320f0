import AdapterKit

/// The record batches at which a lane's consumer stands still, as a value.
///
/// librdkafka fetches such a batch again and again. It may be damaged on the way, so a few tries come first. Then the worker looks
/// for the end of the batch and continues there.
public struct UnreadableBatches: Sendable {
    /// The next step after an error.
    public enum Step: Sendable, Equatable {
        case wait
        case find
        /// The worker passed the batch before: continue at this offset.
        case seek(Int64)
    }

    /// The number of errors of one batch after which the worker passes it. librdkafka reports one every half a second.
    public static let tries = 3

    private enum State {
        case failing(Failure)
        case passed(end: Int64)
    }

    private struct Failure {
        let place: RecordPosition
        let reason: String
        var count = 1
        var isSought = false
    }

    private var states: [TopicPartition: State] = [:]

    public init() {}

    /// The reasons why partitions stand still, in the order of their text.
    public var problems: [String] {
        states.values.compactMap { state in
            if case .failing(let failure) = state, failure.count >= Self.tries { failure.reason } else { nil }
        }.sorted()
    }

    /// Notes that the batch at `place` could not be unpacked.
    public mutating func failed(at place: RecordPosition, _ reason: String) -> Step {
        let partition = TopicPartition(place)
        var failure = Failure(place: place, reason: reason)
        switch states[partition] {
        // A consumer that rests before it has read a record behind the batch returns to the batch.
        case .passed(let end) where place.offset < end: return .seek(end)
        case .failing(let former) where former.place == place:
            failure.count = former.count + 1
            failure.isSought = former.isSought
        case .passed, .failing, nil: break
        }
        let isFinding = failure.count >= Self.tries && !failure.isSought
        failure.isSought = failure.isSought || isFinding
        states[partition] = .failing(failure)
        return isFinding ? .find : .wait
    }

    /// Notes the end of the search for the end of the batch at `place`.
    ///
    /// - Parameters:
    ///   - end: the offset behind the batch; nil where it was not found: the search begins again after the next error.
    ///   - start: the next offset of the partition that the worker has not consumed.
    /// - Returns: the batch to pass; nil where there is nothing to pass (any more).
    public mutating func found(_ end: Int64?, of place: RecordPosition, from start: Int64) -> UnreadableBatch? {
        let partition = TopicPartition(place)
        guard case .failing(var failure) = states[partition], failure.place == place else { return nil }
        guard let end, end > start else {
            failure.isSought = false
            states[partition] = .failing(failure)
            return nil
        }
        states[partition] = .passed(end: end)
        return Self.batch(failure, from: start, to: end)
    }

    /// Notes the consumed `records` of `lane`. The library passes a batch with a wrong checksum by itself.
    ///
    /// - Returns: the records, with one for each batch that was passed.
    public mutating func passing(_ records: [InputRecord], _ lane: Lane) -> [InputRecord] {
        guard !states.isEmpty else { return records }
        return records.flatMap { record -> [InputRecord] in
            let partition = TopicPartition(record.origin)
            guard case .failing(let failure) = states[partition], record.origin.offset >= failure.place.offset else {
                return [record]
            }
            states[partition] = nil
            guard record.origin.offset > failure.place.offset else { return [record] }
            let batch = Self.batch(failure, from: failure.place.offset, to: record.origin.offset)
            return [InputRecord(batch, lane: lane), record]
        }
    }

    public mutating func forget(_ partitions: some Sequence<TopicPartition>) {
        for partition in partitions { states[partition] = nil }
    }

    private static func batch(_ failure: Failure, from start: Int64, to end: Int64) -> UnreadableBatch {
        let place = failure.place
        let first = RecordPosition(
            topic: place.topic, partition: place.partition, offset: max(place.offset, start))
        return UnreadableBatch(first, end: end, reason: failure.reason)
    }
}
