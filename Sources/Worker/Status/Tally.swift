import AdapterKit
import Pipeline

/// Counts of a few different things that come in any number, most of them the same as the one before.
struct Tally<Thing: Equatable> {
    private var entries: [(thing: Thing, count: Int)] = []
    private var last = 0

    mutating func count(_ thing: Thing) {
        if entries.indices.contains(last), entries[last].thing == thing {
            entries[last].count += 1
        } else if let place = entries.firstIndex(where: { $0.thing == thing }) {
            entries[place].count += 1
            last = place
        } else {
            entries.append((thing, 1))
            last = entries.count - 1
        }
    }

    /// The counts by their labels; what has none is left out.
    func counts(_ labels: (Thing) -> [String]?) -> [[String]: Int] {
        var counts: [[String]: Int] = [:]
        for (thing, count) in entries { if let labels = labels(thing) { counts[labels, default: 0] += count } }
        return counts
    }
}

/// What metrics say of an event's end.
struct End: Equatable {
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
