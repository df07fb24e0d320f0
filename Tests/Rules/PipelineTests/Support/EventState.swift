import AdapterKit

@testable import Pipeline

/// The state of an event after its batch, as stories and walks describe it.
enum EventState {
    case settled(Settlement)
    case waits(until: UnixTime)

    /// The state in short: `waits`, or the outcome.
    var text: String {
        guard let settlement else { return "waits" }
        return switch settlement.outcome {
        case .deferred(let tier, let deferral): "deferred \(deferral.name) \(tier)"
        case .deadLettered(let code): code.rawValue
        default: settlement.outcome.name
        }
    }

    var settlement: Settlement? { if case .settled(let settlement) = self { settlement } else { nil } }
}

extension Batch {
    /// Returns the states of `begun`, the records that the batch began with.
    func states(of begun: [InputRecord]) -> [EventState] {
        var (settled, waiting) = (zip(records, settlements).makeIterator(), parked.makeIterator())
        var next = settled.next()
        return begun.compactMap { record in
            guard let (place, settlement) = next, place === record else {
                return waiting.next().map { .waits(until: $0.until) }
            }
            next = settled.next()
            return .settled(settlement)
        }
    }

    /// Returns the batch after its events reached `states`.
    func processed(_ states: [EventState]) -> Batch {
        var batch = emptied(for: states.count)
        for (record, state) in zip(records, states) {
            switch state {
            case .settled(let settlement):
                batch.records.append(record)
                batch.settlements.append(settlement)
            case .waits(let until): batch.parked.append((record, until: until))
            }
        }
        return batch
    }
}
