/// Counts how often each thing came; with a thousand apps there are a thousand kinds.
struct Tally<Thing: Hashable> {
    private var entries: [(thing: Thing, count: Int)] = []
    /// The index of each thing in `entries`.
    private var places: [Thing: Int] = [:]

    mutating func count(_ thing: Thing) {
        if let place = places[thing] {
            entries[place].count += 1
        } else {
            places[thing] = entries.count
            entries.append((thing, 1))
        }
    }

    /// Returns the counts with their labels, which may occur several times. It leaves out things without labels and
    /// things that were not counted.
    func counts(_ labels: (Thing) -> [String]?) -> [(key: [String], value: Int)] {
        entries.compactMap { thing, count in count > 0 ? labels(thing).map { ($0, count) } : nil }
    }

    /// Sets all counts to zero, and keeps their entries.
    mutating func reset() { for index in entries.indices { entries[index].count = 0 } }
}
