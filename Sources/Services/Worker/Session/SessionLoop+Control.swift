import AdapterKit
import Kafka
import Pipeline

// MARK: The fleet's word

extension SessionLoop {
    /// Applies the records that the control topic held when it was first read. Pauses and suspensions that are over are
    /// not logged: they are no news in the log of a restart.
    mutating func takeHistory() {
        let words = control.take()
        processor.takeHistory { processor in
            for word in words { Self.apply(word, to: &processor) }
        }
        let records = words.compactMap { word in if case .lane(let record) = word { record } else { nil } }
        tell(lanePauses.takeHistory(records, at: context.now()))
        raiseAlarms()
    }

    /// Applies the control topic's records since the last call, and ends pauses and suspensions that are over.
    mutating func takeWords() {
        for word in control.take() {
            Self.apply(word, to: &processor)
            guard case .lane(let record) = word else { continue }
            tell(lanePauses.hold(record.pause, of: record.lane, at: context.now()).map { [$0] } ?? [])
        }
        tell(lanePauses.endElapsed(at: context.now()))
        raiseAlarms()
    }

    private static func apply(_ word: ControlWord, to processor: inout BatchProcessor) {
        switch word {
        case .app(let record): processor.hold(record.suspension, of: record.app)
        case .refusals(let record): processor.heard(record.counts, of: record.app, from: record.worker)
        case .lane: break
        }
    }

    private mutating func tell(_ changes: [LanePauses.Change]) {
        guard !changes.isEmpty else { return }
        machine.pausedLanes = lanePauses.lanes
        observer.show(lanePauses)
        for change in changes { observer.changed(change) }
    }
}
