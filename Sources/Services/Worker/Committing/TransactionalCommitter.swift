import AdapterKit
import Kafka
import Pipeline
import WorkerConfiguration

/// Commits exactly once: outputs and offsets in one Kafka transaction (KIP-98, KIP-447).
///
/// The transaction begins when everything is ready, so that it is open for milliseconds. `TransactionVerdict`
/// determines the reaction to each call's error; an abort leaves nothing that a `read_committed` reader sees.
///
/// Once the commit was requested, nothing is aborted any more. An error then means that an answer was bad, not that the
/// broker did nothing, and an abort with a new producer epoch succeeds even after a commit (librdkafka 2.0.2). So the
/// clients are replaced. Registering the transactional id again ends the transaction, and the committed offsets show
/// its result.
struct TransactionalCommitter: Committer {
    let producer: KafkaProducer
    let consumers: PerLane<KafkaConsumer>
    let configuration: Configuration
    let now: @Sendable () -> UnixTime
    var callLimit = Transactions.callLimit
    private var transactions: Transactions { Transactions(producer: producer, callLimit: callLimit) }

    func commit(_ unit: CommitUnit, _ additions: Additions) async -> CommitResult {
        var unit = unit
        var large = LargeRecords()
        var aftermaths = 0
        while true {
            switch await attempt(&unit, additions, oneByOne: large.suspects) {
            case .ended(let result): return result
            case .aftermath(let error):
                aftermaths += 1
                if aftermaths > Transactions.aftermaths { return .aborted(error) }
            case .tooLarge(let places, let error):
                aftermaths = 0
                guard let culprit = large.culprit(among: places) else { continue }
                let ends = unit.ends
                let all = Deliveries(unit, configuration).atLeastAsLarge(as: culprit, among: large.suspects)
                var smaller: [Int: Settlement] = [:]
                for place in all { smaller[place] = ends[place].settlement.byReference(ends[place].record, at: now()) }
                guard smaller[culprit] != nil else {
                    // The smallest there is: a topic that does not take it takes nothing.
                    return blocked(unit, culprit, error)
                }
                unit.replace(smaller)
            }
        }
    }

    func commitOffsets() async {}

    func takeAppendTime() -> AppendTime? { producer.takeAppendTime() }

    var throttle: Duration { producer.throttle }

    func commitLeftOffsets() async {}

    var hasOpenOffsets: Bool { get async { false } }

    private enum Attempt {
        case ended(CommitResult)
        /// Aborted, because a record of a transaction before it failed: librdkafka counts that one as sent, finds a number
        /// missing in front of the next one of its partition, and asks for a new epoch.
        case aftermath(KafkaError)
        /// Aborted, because the records of these places are too large.
        case tooLarge([Int], KafkaError)
    }

    private func attempt(
        _ unit: inout CommitUnit, _ additions: Additions, oneByOne single: Set<Int>
    ) async -> Attempt {
        // For partitions that are lost already nothing is begun.
        do throws(KafkaError) { _ = try await identities(unit) } catch { return .ended(.aborted(error)) }
        do throws(KafkaError) { try await producer.beginTransaction() } catch {
            return .ended(CommitResult(ended: error))
        }
        var deliveries = Deliveries(unit, configuration)
        await deliveries.deliver(by: producer, oneByOne: single)
        while deliveries.error == nil, let addition = additions.takeOrClose() {
            deliveries = Deliveries(addition, from: unit.eventCount, configuration)
            unit.add(addition)
            await deliveries.deliver(by: producer, oneByOne: single)
        }
        if let error = deliveries.error { return await abort(after: error, deliveries) }
        let groups: [(offsets: [PartitionOffset], group: ConsumerGroupMetadata)]
        do throws(KafkaError) { groups = try await identities(unit) } catch {
            return .ended(await transactions.abort().map { CommitResult(ended: $0) } ?? .aborted(error))
        }
        for (offsets, group) in groups {
            let error = await transactions.repeating { () throws(KafkaError) in
                try await producer.sendOffsets(offsets, of: group, within: min(.seconds(10), callLimit))
            }
            if let error { return await abort(after: error, deliveries) }
        }
        let error = await transactions.repeating { () throws(KafkaError) in
            try await producer.commitTransaction(within: callLimit)
        }
        if let error { return .ended(CommitResult(ended: error)) }
        return .ended(.committed(unit))
    }

    /// Returns each lane's offsets, with its group's present generation. A lost assignment is never committed.
    private func identities(
        _ unit: CommitUnit
    ) async throws(KafkaError) -> [(offsets: [PartitionOffset], group: ConsumerGroupMetadata)] {
        var groups: [(offsets: [PartitionOffset], group: ConsumerGroupMetadata)] = []
        for lane in Lane.allCases where !unit.offsets[lane].isEmpty {
            let time = now()
            let offsets = unit.offsets[lane].map {
                let metadata = CommitMetadata(
                    version: unit.highestVersion, mark: unit.marks[$0], committedAt: time)
                return PartitionOffset($0, offset: $1, metadata: metadata.text)
            }
            groups.append((offsets, try await consumers[lane].groupMetadata(committing: offsets)))
        }
        return groups
    }

    /// Ends a transaction in which something went wrong.
    private func abort(after error: KafkaError, _ deliveries: Deliveries) async -> Attempt {
        var cause = error
        if deliveries.hasOnlyConsequences { cause = await transactions.reason() ?? error }
        // A record that failed makes the library want an abort; the record's own error does not show that.
        let isDelivery = deliveries.error != nil && !cause.isFatal && !cause.isFenced
        guard isDelivery || TransactionVerdict(cause) == .abort else { return .ended(CommitResult(ended: cause)) }
        let blockage = deliveries.refused(because: cause, producer.takeRefusals())
        if let error = await transactions.abort() {
            // The transaction never began at the coordinator, which refused its first request, and cannot be aborted there.
            // The next check of the topic finds that the producer is of no further use.
            if let blockage, !error.isFenced { return .ended(.blocked(blockage)) }
            return .ended(CommitResult(ended: error.following(cause)))
        }
        if cause.code == .outOfOrderSequence { return .aftermath(cause) }
        let tooLarge = deliveries.tooLarge
        if !tooLarge.isEmpty { return .tooLarge(tooLarge, cause) }
        return .ended(blockage.map(CommitResult.blocked) ?? .aborted(cause))
    }

    private func blocked(_ unit: CommitUnit, _ place: Int, _ error: KafkaError) -> CommitResult {
        guard let output = unit.ends[place].settlement.output else { return .aborted(error) }
        return .blocked(Blockage(error, [ProducerRecord(output, configuration)]))
    }

    func isCleared(_ blockage: Blockage) async -> BlockageCheck { await transactions.isCleared(blockage) }
}
