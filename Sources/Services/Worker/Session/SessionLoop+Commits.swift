import AdapterKit
import Kafka
import Pipeline
import Wiring
import WorkerConfiguration

// MARK: Commits

extension SessionLoop {
    /// Returns `unit` with the marks of the logs and its highest version, which the partitions' next worker must exceed.
    func stamped(_ unit: CommitUnit) -> CommitUnit {
        var unit = unit
        unit.highestVersion = processor.highestVersion(throughBatch: unit.lastBatch)
        unit.marks = marks.all
        return unit
    }

    /// Adds to the unit that is being committed, if that is in time.
    mutating func add(_ addition: CommitUnit) {
        let isInTime = additions.offer(stamped(addition))
        if isInTime { publishing.added(addition) }
        machine.added(isInTime ? addition : nil)
    }

    mutating func commit(_ unit: CommitUnit) {
        additions = Additions()
        publishing.began(unit)
        background.addTask {
            [unit = stamped(unit), committer, additions, commits, context, wakeup = lanes.wakeup] in
            let (start, began) = (ContinuousClock.now, context.now())
            let result = await committer.commit(unit, additions)
            let (took, end) = (.now - start, context.now())
            context.observer.commitEnded(unit, result, from: began, to: end, in: took)
            // With the moment of its end, for the loop takes note of it later.
            commits.put((result, end, took))
            wakeup.signal()
            await committer.commitOffsets()
            wakeup.signal()
        }
    }

    /// Collects the results of the background work.
    mutating func collect() -> SessionEnd? {
        if let commit = commits.take() {
            fit(commit.result, took: commit.took)
            if let end = ended(commit.result, at: commit.at, took: commit.took) { return end }
        }
        return checks.take().flatMap { checked($0) }
    }

    /// Makes the next commits as small as a quota of the brokers needs.
    private mutating func fit(_ result: CommitResult, took: Duration) {
        context.quota.note(committer.throttle)
        let isCommitted = if case .committed = result { true } else { false }
        let events = context.running.worker.readAheadEvents
        guard context.quota.ended(in: took, isCommitted: isCommitted, of: events) else { return }
        machine.apply(Self.settings(context.running, limit: context.quota.limit))
    }

    private mutating func ended(_ result: CommitResult, at time: UnixTime, took: Duration) -> SessionEnd? {
        switch result {
        case .committed(let unit):
            machine.committed(at: time)
            for lane in Lane.allCases { committed.committed(unit.offsets[lane], unit.marks, at: time) }
            processor.confirm(throughBatch: unit.lastBatch)
            aborts = EqualAborts()
            context.reachability.succeeded()
            observer.advanced()
            // Offsets have no time that brokers could refuse.
            if unit.isPublishing { context.clock.accepted() }
            if publishing.committed(unit) { observer.committed() }
        case .aborted(let error):
            machine.aborted(at: context.now())
            publishing.aborted()
            if error.code == .invalidTimestamp { context.clock.refused(at: context.now()) }
            observer.aborted(error, isRepeated: aborts.isTelling(error.code))
        case .blocked(let blockage):
            machine.aborted(at: context.now(), isBlocked: true)
            publishing.aborted()
            self.blockage = blockage
            observer.blocked(blockage)
        case .unusable(let error): return .unusable(error)
        case .fenced(let error):
            let limit = KafkaProperties(context.configuration, bootstrapServers: "").transactionLimit
            return context.quota.isOverdue(took, limit) ? .unusable(error) : .fenced(error)
        }
        return nil
    }
}

// MARK: Topics that cannot be written

extension SessionLoop {
    func check() {
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
            observer.unblocked()
        case .blocked(let error):
            machine.stillBlocked(at: context.now())
            observer.stillBlocked(blockage?.topic ?? "", error)
        case .unusable(let error): return .unusable(error)
        case .fenced(let error): return .fenced(error)
        }
        return nil
    }
}
