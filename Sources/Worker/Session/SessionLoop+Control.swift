import AdapterKit
import Kafka
import Pipeline

// MARK: The fleet's word

extension SessionLoop {
    /// Takes in what the control topic held when it was first read. Pauses and suspensions that are over by now are not told: they are no
    /// news to anybody who reads the log of a restart.
    mutating func takeHistory() {
        let words = control.take()
        processor.takeHistory { processor in
            for word in words { Self.apply(word, to: &processor) }
        }
        let records = words.compactMap { word in if case .lane(let record) = word { record } else { nil } }
        tell(lanePauses.takeHistory(records, at: context.now()))
        raiseAlarms()
    }

    /// Takes in what the control topic said since the last call, and ends what is over.
    mutating func takeWords() {
        for word in control.take() {
            Self.apply(word, to: &processor)
            guard case .lane(let record) = word else { continue }
            tell(lanePauses.hold(record.pause, of: record.lane, at: context.now()).map { [$0] } ?? [])
        }
        tell(lanePauses.endElapsed(at: context.now()))
        raiseAlarms()
    }

    /// Applies what `word` says of an app.
    private static func apply(_ word: ControlWord, to processor: inout BatchProcessor) {
        switch word {
        case .app(let record): processor.hold(record.suspension, of: record.app)
        case .refusals(let record): processor.heard(record.counts, of: record.app, from: record.worker)
        case .lane: break
        }
    }

    /// Lanes rest or go on.
    private mutating func tell(_ changes: [LanePauses.Change]) {
        guard !changes.isEmpty else { return }
        machine.pausedLanes = lanePauses.lanes
        context.show(lanePauses)
        for change in changes { context.raise(change) }
    }
}
