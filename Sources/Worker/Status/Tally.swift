/// Counts how often each thing came. The same thing comes many times in a row as a rule, which is quicker to count than a
/// dictionary's entry; with a thousand apps there are a thousand kinds.
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

    /// The counts with their labels, which may stand there several times; what has none is left out, and what was not
    /// counted.
    func counts(_ labels: (Thing) -> [String]?) -> [(key: [String], value: Int)] {
        entries.compactMap { thing, count in count > 0 ? labels(thing).map { ($0, count) } : nil }
    }

    /// Begins at zero, with room for what was counted before.
    mutating func reset() { for index in entries.indices { entries[index].count = 0 } }
}
