import AdapterKit
import Pipeline

/// Counts of things that come in any number: of one kind in a row as a rule, of a thousand kinds where there are a thousand
/// apps.
struct Tally<Thing: Hashable> {
    private var entries: [(thing: Thing, count: Int)] = []
    /// Where each thing stands in `entries`.
    private var places: [Thing: Int] = [:]
    private var last = 0

    mutating func count(_ thing: Thing) {
        if entries.indices.contains(last), entries[last].thing == thing {
            entries[last].count += 1
        } else if let place = places[thing] {
            entries[place].count += 1
            last = place
        } else {
            last = entries.count
            places[thing] = last
            entries.append((thing, 1))
        }
    }

    /// The counts with their labels, which may stand there several times; what has none is left out.
    func counts(_ labels: (Thing) -> [String]?) -> [(key: [String], value: Int)] {
        entries.compactMap { thing, count in labels(thing).map { ($0, count) } }
    }
}

/// What metrics say of an event's end.
struct End: Hashable {
    let app: String
    let outcome: Outcome
    let algorithm: Algorithm?

    init(_ settlement: Settlement) {
        app = settlement.app ?? ""
        // Why it was skipped is text of any kind and no label.
        outcome = if case .skipped = settlement.outcome { .skipped("") } else { settlement.outcome }
        algorithm = settlement.algorithm
    }

    /// Whether a newer token answers it: one that was made for several reports together, or one from before.
    func isSuperseded(together: Bool) -> Bool {
        if case .superseded(let why) = outcome { why.isCoalesced == together } else { false }
    }
}
