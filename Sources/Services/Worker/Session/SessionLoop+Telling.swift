import AdapterKit
import Kafka
import Pipeline
import Wiring
import WorkerConfiguration

// MARK: Telling

extension SessionLoop {
    mutating func raiseAlarms() {
        let alarms = processor.takeAlarms()
        guard !alarms.isEmpty else { return }
        // The status is set before the log line, because a reader of the line may ask for it at once.
        context.showApps(processor)
        for alarm in alarms {
            observer.raised(alarm)
            switch alarm {
            case .suspended(let suspension), .narrowed(let suspension): control.tell(suspension.app, suspension)
            case .resumed(let suspension, .probe): control.tell(suspension.app, nil)
            // Where a pause's time is over, every worker knows by itself.
            case .resumed(_, .told), .resumed(_, .elapsed), .told: break
            // It holds for this worker's partitions alone.
            case .suspendedHere, .refusing, .accepting: break
            }
        }
    }

    /// Updates the metrics, and logs the suspensions that a probe lifted, once a second.
    mutating func report() async {
        guard .now >= nextReport else { return }
        nextReport = .now + .seconds(1)
        if steps.isSet(context.now(), elapsed: .now - start) { rereadVersions() }
        processor.checkSuspensions()
        for report in processor.dueReports() {
            control.tell(report.app, counts: report.counts, of: report.worker)
        }
        raiseAlarms()
        observer.logOutcomes()
        var lag: [[String]: Double] = [:]
        var waiting = 0
        for lane in Lane.allCases {
            let consumer = lanes.consumers[lane]
            let records = self.lag.records(
                of: await consumer.assignedPartitions, ends: await consumer.knownEnds,
                positions: machine.positions(lane))
            for (partition, count) in records {
                lag[[lane.rawValue, partition.topic, String(partition.partition)]] = Double(count)
            }
            guard machine.pausedLanes.contains(lane) else {
                if lane != .retries { waiting += Int(records.values.reduce(0, +)) }
                restingLag.forget(lane)
                continue
            }
            for (partition, count) in restingLag.known(lane) {
                lag[[lane.rawValue, partition.topic, String(partition.partition)]] = Double(count)
            }
            if restingLag.isDue(lane) {
                background.addTask { [restingLag] in
                    await restingLag.ask(lane, consumer)
                }
            }
        }
        observer.looked(at: machine.waiting(lag: waiting), machine.standing)
        if !machine.isGivingUp { background.addTask { [committer] in await committer.commitLeftOffsets() } }
        context.showApps(processor)
        let refusals = processor.refusalCounts()
        observer.measured(machine, processor, refusals: refusals, lag: lag, at: context.now())
        observer.lookedUp(processor.takeLookupTally())
        context.quota.note(committer.throttle)
        observer.throttled(committer.throttle, context.quota.look())
        clockSample.append = committer.takeAppendTime()
        context.clock.record(clockSample, at: context.now())
        clockSample = ClockWatch.Sample()
        if context.reachability.isQuestionDue {
            let topic = context.configuration.topics.invalidations
            background.addTask { [consumer = lanes.consumers[.live], reachability = context.reachability] in
                let answer = try? await consumer.metadata(of: topic, within: .seconds(1))
                reachability.asked(isAnswered: answer != nil)
            }
        }
    }
}
