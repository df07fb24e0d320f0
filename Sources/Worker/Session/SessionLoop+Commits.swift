import AdapterKit
import Kafka
import Logging
import Pipeline
import Telemetry

// MARK: Commits

extension SessionLoop {
    /// Returns `transaction` with the marks of the logs and the highest version, which the partitions' next worker must
    /// exceed.
    func stamped(_ transaction: CommitUnit) -> CommitUnit {
        var transaction = transaction
        transaction.highestVersion = processor.highestVersion
        transaction.marks = marks.all
        return transaction
    }

    mutating func commit(_ transaction: CommitUnit, _ background: BackgroundWork) {
        additions = Additions()
        background.addTask {
            [transaction = stamped(transaction), committer, additions, commits, context, wakeup = lanes.wakeup] in
            let (start, began) = (ContinuousClock.now, context.now())
            let result = await committer.commit(transaction, additions)
            let (took, end) = (.now - start, context.now())
            context.metrics.ended(result, seconds: took / .seconds(1))
            context.trace(transaction, result, from: began, to: end)
            // The log and the metrics of thousands of events are prepared here: the loop has the next ones to process.
            var digest = OutcomeLog()
            if case .committed(let transaction) = result {
                context.committed(transaction)
                digest = OutcomeLog(transaction)
            }
            // With the moment it ended, for the loop takes note of it later.
            commits.put((result, end, digest))
            wakeup.signal()
            await committer.commitOffsets()
            wakeup.signal()
        }
    }

    /// Collects the results of the background work.
    mutating func collect() -> SessionEnd? {
        if let commit = commits.take() {
            digest.add(commit.digest)
            if let end = ended(commit.result, at: commit.at) { return end }
        }
        return checks.take().flatMap { checked($0) }
    }

    private mutating func ended(_ result: CommitResult, at time: UnixTime) -> SessionEnd? {
        switch result {
        case .committed(let unit):
            machine.committed(at: time)
            for lane in Lane.allCases { committed.committed(unit.offsets[lane], unit.marks, at: time) }
            processor.confirm(throughBatch: unit.lastBatch)
            aborts = EqualAborts()
            context.reachability.succeeded()
            // At least once, a blockage is waited for within a commit, which may have been given up.
            if context.status.problems[.publishing] != nil { context.blocked(nil) }
        case .aborted(let error):
            machine.aborted(at: context.now())
            if aborts.isTelling(error.code) { tellEqualAborts(error) }
            context.logger.warning(
                "a transaction was aborted; its events are taken again", metadata: [LogKey.kafkaError: "\(error)"])
        case .blocked(let blockage):
            machine.aborted(at: context.now(), isBlocked: true)
            self.blockage = blockage
            context.blocked(blockage)
        case .unusable(let error): return .unusable(error)
        case .fenced(let error): return .fenced(error)
        }
        return nil
    }

    /// Reports a worker that aborts every transaction for the same reason as not ready, whatever the reason is.
    private func tellEqualAborts(_ error: KafkaError) {
        context.status.set(.publishing, "every transaction is aborted: \(error)")
        context.logger.error(
            "every transaction is aborted for the same reason; no event is answered until it is fixed",
            metadata: [LogKey.kafkaError: "\(error)"])
    }
}

// MARK: Topics that cannot be written

extension SessionLoop {
    func check(_ background: BackgroundWork) {
        guard let blockage else { return }
        background.addTask { [committer, checks, wakeup = lanes.wakeup] in
            checks.put(await committer.isCleared(blockage))
            wakeup.signal()
        }
    }

    private mutating func checked(_ check: BlockageCheck) -> SessionEnd? {
        switch check {
        case .cleared:
            blockage = nil
            machine.unblocked()
            context.blocked(nil)
        case .blocked(let error):
            machine.stillBlocked(at: context.now())
            context.logger.warning(
                "the topic still cannot be written",
                metadata: [LogKey.topic: "\(blockage?.topic ?? "")", LogKey.kafkaError: "\(error)"])
        case .unusable(let error): return .unusable(error)
        case .fenced(let error): return .fenced(error)
        }
        return nil
    }
}
