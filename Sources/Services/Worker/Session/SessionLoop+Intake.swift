import AdapterKit
import Kafka
import Pipeline
import ServiceLifecycle
import WorkerConfiguration

// MARK: Taking

extension SessionLoop {
    /// The most events taken at once from a lane whose partitions are paused. They are rebalances and errors, never
    /// many.
    private static let newsAtOnce = 100

    /// Consumes the records that are present and may be consumed.
    ///
    /// - Returns: whether there may be more at once.
    mutating func take() async throws(KafkaError) -> Bool {
        var hasMore = false
        for lane in Lane.allCases {
            let consumer = lanes.consumers[lane]
            // A worker that takes nothing must not seem gone, or the group gives its partitions away during a commit.
            await consumer.keepAlive()
            let limit: Int
            switch machine.intake(lane) {
            case .nothing: continue
            case .news:
                try await watch.apply(.everything, to: consumer, lane)
                limit = Self.newsAtOnce
            case .records(let count, let paused):
                try await watch.apply(.some(paused), to: consumer, lane)
                limit = count
            }
            let taken = await lanes.take(limit, of: lane)
            hasMore = hasMore || limit > 0 && taken.count == limit
            try handle(taken, lane)
        }
        return hasMore
    }

    mutating func handle(_ taken: LaneConsumers.Taken, _ lane: Lane) throws(KafkaError) {
        for event in taken.others {
            switch event {
            case .record: break
            case .endOfPartition(let partition, let end): machine.reached(end, of: partition, on: lane)
            case .rebalance(let rebalance): rebalancing(SessionStateMachine.Rebalance(rebalance), lane)
            case .error(let error): try handle(error, lane)
            }
        }
        let records = batches[lane].passing(taken.records, lane)
        guard !records.isEmpty else { return }
        for regression in committed.regressions(in: records) {
            observer.wentBack(regression.partition, to: regression.offset, from: regression.committed)
        }
        if records.count > taken.records.count { passed(records, lane) }
        observer.took(taken.records.count, lane)
        // Retries are dated by workers, perhaps by this one.
        if lane == .live, let time = taken.time, time.milliseconds > clockSample.record?.milliseconds ?? .min {
            clockSample.record = time
        }
        marks.took(taken.records)
        machine.received(records, on: lane, at: context.now())
    }

    private mutating func handle(_ error: KafkaError, _ lane: Lane) throws(KafkaError) {
        guard !error.isFatal else { throw error }
        if error.code == .positionOutOfRange { return reopen("\(error)") }
        if let place = error.batch { return failed(error, at: place, lane) }
        context.reachability.noted(error)
        observer.consumerFailed(error, lane)
    }
}

// MARK: Rebalances

extension SessionLoop {
    /// Begins a rebalance. What must be known before partitions are taken over is asked in the background.
    private mutating func rebalancing(_ rebalance: SessionStateMachine.Rebalance, _ lane: Lane) {
        let isPrepared = !rebalance.isAssignment || rebalance.partitions.isEmpty
        machine.rebalancing(lane, rebalance, isPrepared: isPrepared)
        rebalances[lane] += 1
        forgetBatches(of: rebalance.partitions, lane)
        if !isPrepared { lookUp(rebalance.partitions, lane) }
    }

    /// - Throws: `KafkaError` where it is not known where assigned partitions are to be read from.
    mutating func answer(_ lane: Lane, _ rebalance: SessionStateMachine.Rebalance) async throws(KafkaError) {
        let partitions = rebalance.partitions
        var isAnswered = true
        var starts: [TopicPartition: PartitionStart] = [:]
        if case .assigned = rebalance, !partitions.isEmpty {
            starts = try self.starts(of: partitions, lane)
            committed.assigned(partitions)
            assignments += 1
        } else {
            marks.drop(partitions)
            lag.drop(partitions)
            publishing.gavePartitionsUp()
        }
        observer.rebalanced(lane, partitions, isAssignment: rebalance.isAssignment)
        do throws(KafkaError) {
            try await lanes.consumers[lane].answer(Rebalance(rebalance), from: starts.mapValues(\.offset))
        } catch {
            observer.answeredLate(error)
            starts = [:]
            isAnswered = false
        }
        machine.answered(lane, from: starts.mapValues(\.offset))
        watch.forget(lane)
        try await settle(starts, lane)
        if isAnswered, lane == .live, renewal == nil, !Task.isShuttingDownGracefully,
            rebalance.isBeginning(with: starts.count)
        {
            begin?()
            begin = nil
        }
    }
}

extension SessionStateMachine.Rebalance {
    /// Returns whether a worker consumes after it answered with the starts of `count` partitions. Without the start of a partition,
    /// the assignment is lost, or the worker stops. A worker that gets no partition, because the group has more members than
    /// partitions, consumes too.
    func isBeginning(with count: Int) -> Bool { isAssignment && partitions.count == count }

    init(_ rebalance: Rebalance) {
        switch rebalance.kind {
        case .assigned: self = .assigned(rebalance.partitions)
        case .revoked(let isLost): self = isLost ? .lost(rebalance.partitions) : .revoked(rebalance.partitions)
        }
    }
}

extension Rebalance {
    init(_ rebalance: SessionStateMachine.Rebalance) {
        switch rebalance {
        case .assigned(let partitions): self.init(kind: .assigned, partitions: partitions)
        case .revoked(let partitions): self.init(kind: .revoked(isLost: false), partitions: partitions)
        case .lost(let partitions): self.init(kind: .revoked(isLost: true), partitions: partitions)
        }
    }
}
