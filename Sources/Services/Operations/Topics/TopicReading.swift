import Kafka
import Pipeline

/// The progress of reading a topic that producers may still write to.
struct TopicReading {
    private struct Place {
        let partition: TopicPartition
        let bounds: Range<Int64>
        var position: Int64
        var isOpen: Bool { position < bounds.upperBound }
    }

    private var places: [Place] = []
    private var numbers: [TopicPartition: Int] = [:]
    /// The place of the last record, which is mostly the next one's too: a look that hashes no name.
    private var lastNumber = 0
    private var openCount = 0
    /// The number of all offsets to read.
    let total: Int
    private(set) var done = 0

    init(_ bounds: [TopicPartition: Range<Int64>]) {
        total = bounds.values.reduce(0) { $0 + $1.count }
        for (partition, bounds) in bounds where !bounds.isEmpty {
            numbers[partition] = places.count
            places.append(Place(partition: partition, bounds: bounds, position: bounds.lowerBound))
        }
        openCount = places.count
    }

    var isDone: Bool { openCount == 0 }

    /// A record was read.
    ///
    /// - Returns: whether it was there when the reading began.
    mutating func took(_ position: RecordPosition) -> Bool {
        guard let number = number(of: position), places[number].isOpen else { return false }
        // A record may come again behind one that was read.
        pass(number, to: max(places[number].position, position.nextOffset))
        return position.offset < places[number].bounds.upperBound
    }

    /// A partition has no more before `offset`. Its last offsets may be a transaction's marks, which no reader sees; where it goes on
    /// behind `offset`, an open transaction hides the rest.
    mutating func ended(_ partition: TopicPartition, at offset: Int64) {
        guard let number = numbers[partition], places[number].isOpen else { return }
        pass(number, to: max(places[number].position, offset))
    }

    private func number(of position: RecordPosition) -> Int? {
        if places.indices.contains(lastNumber), places[lastNumber].partition.partition == position.partition,
            places[lastNumber].partition.topic == position.topic
        {
            return lastNumber
        }
        return numbers[TopicPartition(position)]
    }

    private mutating func pass(_ number: Int, to offset: Int64) {
        let reached = min(offset, places[number].bounds.upperBound)
        done += Int(reached - places[number].position)
        places[number].position = reached
        if !places[number].isOpen { openCount -= 1 }
        lastNumber = number
    }

    /// The partitions of which not everything was read.
    var unread: [TopicPartition] { places.filter(\.isOpen).map(\.partition) }

    /// Returns the next position of the first partition that is not read and not among those that are `hidden`.
    func stall(besides hidden: [TopicPartition: Range<Int64>]) -> RecordPosition? {
        places.first { $0.isOpen && hidden[$0.partition] == nil }.map {
            RecordPosition(topic: $0.partition.topic, partition: $0.partition.partition, offset: $0.position)
        }
    }

    /// The offsets that open transactions hide where committed records can be read up to `stable`.
    func hidden(behind stable: [TopicPartition: Int64]) -> [TopicPartition: Range<Int64>] {
        places.reduce(into: [:]) { hidden, place in
            guard place.isOpen, let end = stable[place.partition], end < place.bounds.upperBound else { return }
            hidden[place.partition] = max(end, place.position)..<place.bounds.upperBound
        }
    }
}
