package import Kafka
package import Pipeline

/// The dead letters of a topic, counted as records: a topic's offsets also count the marks of transactions.
package struct LetterCount: Sendable {
    /// The most offsets that a command reads for a count.
    package static let most = 200_000

    private struct Place: Sendable {
        /// The offset up to which letters are counted.
        var end: Int64
        /// The name of the letter at each offset; nil for a record that no worker wrote.
        var letters: [Int64: LetterName?] = [:]
    }

    private var places: [TopicPartition: Place] = [:]
    /// The partitions of the present reading. The brokers may not have returned the bounds of the others.
    package private(set) var partitions: Set<TopicPartition> = []

    /// The most offsets that are read and letters that are kept. Above it, offsets are counted instead.
    private let most: Int

    /// A count of nothing.
    package init(most: Int = Self.most) { self.most = most }

    /// Prepares for the letters of `bounds`, and returns the first offset to read in each partition; nil where there is nothing to
    /// read, or more than is read for a count. Only `partitions` are to be read.
    package mutating func begin(_ bounds: [TopicPartition: Range<Int64>]) -> [Int64]? {
        for (partition, bounds) in bounds {
            var place = places[partition] ?? Place(end: bounds.lowerBound)
            // A topic that was created again starts at its first offset.
            if place.end > bounds.upperBound { place = Place(end: bounds.lowerBound) }
            place.end = max(place.end, bounds.lowerBound)
            place.letters = place.letters.filter { bounds.contains($0.key) }
            places[partition] = place
        }
        partitions = Set(bounds.keys)
        let (unread, kept) = (unread(in: bounds), places.values.reduce(0) { $0 + $1.letters.count })
        guard unread > 0, unread <= most - kept else { return nil }
        let last = bounds.keys.map(\.partition).max() ?? 0
        var starts = Array(repeating: Int64(0), count: Int(last) + 1)
        for partition in bounds.keys { starts[Int(partition.partition)] = places[partition]?.end ?? 0 }
        return starts
    }

    /// Begins again, because the topic was created again under its name.
    package mutating func forget() {
        places = [:]
        partitions = []
    }

    /// Counts `letter`.
    package mutating func add(_ letter: InputRecord) {
        places[TopicPartition(letter.origin)]?.letters[letter.origin.offset] = .some(LetterName(letter))
    }

    /// Notes that the present reading has everything in `bounds` that is of its partitions.
    package mutating func finish(_ bounds: [TopicPartition: Range<Int64>]) {
        for (partition, bounds) in bounds where partitions.contains(partition) {
            places[partition]?.end = bounds.upperBound
        }
    }

    /// Returns whether every letter in `bounds` is counted.
    package func isExact(in bounds: [TopicPartition: Range<Int64>]) -> Bool { unread(in: bounds) == 0 }

    /// Returns the number of letters in `bounds` that need attention, by partition. Offsets that were not read count as letters.
    package func waiting(
        in bounds: [TopicPartition: Range<Int64>], _ states: LetterStates
    ) -> [TopicPartition: Int] {
        bounds.reduce(into: [:]) { waiting, next in
            guard let place = places[next.key] else { return waiting[next.key] = next.value.count }
            let letters = place.letters.values.count { name in name.map { states[$0] == nil } ?? true }
            guard place.end < next.value.upperBound else { return waiting[next.key] = letters }
            let rest = place.end..<next.value.upperBound
            let handled = states.count(within: [next.key: rest])
            let beyond = place.letters.filter { rest.contains($0.key) && $0.value.map { states[$0] == nil } ?? true }
            waiting[next.key] = letters - beyond.count + max(0, rest.count - handled)
        }
    }

    private func unread(in bounds: [TopicPartition: Range<Int64>]) -> Int {
        bounds.reduce(0) { sum, next in
            sum + max(0, Int(next.value.upperBound - max(places[next.key]?.end ?? 0, next.value.lowerBound)))
        }
    }
}
