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
    /// The brokers' quota, which makes the timeout longer; nil for none.
    var quota: BrokerQuota?
    private var transactions: Transactions {
        Transactions(producer: producer, callLimit: quota?.stretched(callLimit) ?? callLimit)
    }

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
        let transactions = transactions
        for (offsets, group) in groups {
            let error = await transactions.repeating { () throws(KafkaError) in
                try await producer.sendOffsets(offsets, of: group, within: transactions.callLimit / 2)
            }
            if let error { return await abort(after: error, deliveries) }
        }
        let error = await transactions.repeating { () throws(KafkaError) in
            try await producer.commitTransaction(within: transactions.callLimit)
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

/// A transactional producer, and the way in which its transactions end.
struct Transactions: Sendable {
    /// The timeout of one call that ends a transaction: longer than a coordinator leaves a transaction open by default.
    /// The worker repeats the call, but can close a producer that was given up between two calls.
    static let callLimit = Duration.seconds(20)
    private static let pause = Duration.milliseconds(50)

    /// The most failures of a transaction in a row because of the transaction before it.
    static let aftermaths = 5

    let producer: KafkaProducer
    var callLimit = Self.callLimit

    /// Returns the reason why the library requires an abort of the open transaction. The library reports it when
    /// another transaction is begun, which changes nothing. The records' own errors only report that they were dropped.
    func reason() async -> KafkaError? {
        do throws(KafkaError) { try await producer.beginTransaction() } catch {
            return error.code == .invalidState ? nil : error
        }
        return nil
    }

    /// - Returns: The reason why the transaction could not be aborted; nil if it was.
    func abort() async -> KafkaError? {
        await repeating { () throws(KafkaError) in try await producer.abortTransaction(within: callLimit) }
    }

    /// Repeats `call` while its error allows the same call again, for a limited time: a library that got stuck, as after a
    /// topic was deleted and created again, answers so for ever, and new clients do not.
    func repeating(_ call: () async throws(KafkaError) -> Void) async -> KafkaError? {
        let end = ContinuousClock.now + callLimit * 2
        while true {
            do throws(KafkaError) {
                try await call()
                return nil
            } catch {
                guard TransactionVerdict(error) == .retry, .now < end, !Task.isCancelled else { return error }
                // The library answers at once while its coordinator is away, and has no event for its return.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Writes the refused records, and aborts: whatever the result is, no reader sees them.
    func isCleared(_ blockage: Blockage) async -> BlockageCheck {
        // The library remembers for a while what it heard of a topic; asking makes it forget.
        for record in blockage.records { _ = try? await producer.metadata(of: record.topic, within: .seconds(5)) }
        var last: KafkaError?
        for _ in 0...Self.aftermaths {
            do throws(KafkaError) { try await producer.beginTransaction() } catch { return BlockageCheck(ended: error) }
            let errors = await producer.deliver(blockage.records).compactMap { $0 }
            var error = errors.first { !Deliveries.consequences.contains($0.code) } ?? errors.first
            if let dropped = error, Deliveries.consequences.contains(dropped.code) { error = await reason() ?? dropped }
            if let error, error.isFatal || error.isFenced { return BlockageCheck(ended: error) }
            if let end = await abort() { return BlockageCheck(ended: error.map(end.following) ?? end) }
            guard let error else { return .cleared }
            guard error.code == .outOfOrderSequence else { return .blocked(error) }
            last = error
        }
        return last.map(BlockageCheck.blocked) ?? .cleared
    }
}
