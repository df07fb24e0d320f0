import AdapterKit
import Kafka
import Testing

@testable import Operations

/// The reach of a topic's reading, and the offsets that open transactions hide of it.
@Suite struct TopicReadingTests {
    private static let places = (0..<3).map { TopicPartition(topic: "tokens", partition: $0) }

    private func reading() -> TopicReading {
        TopicReading([Self.places[0]: 0..<10, Self.places[1]: 5..<8, Self.places[2]: 4..<4])
    }

    private func record(_ offset: Int64, of place: TopicPartition) -> RecordPosition {
        RecordPosition(topic: place.topic, partition: place.partition, offset: offset)
    }

    @Test func `a partition that ends before its last offset is not read whole`() {
        var reading = reading()
        reading.ended(Self.places[0], at: 4)
        reading.ended(Self.places[1], at: 8)
        #expect(!reading.isDone && reading.unread == [Self.places[0]])
        #expect(reading.done == 7 && reading.total == 13)
        reading.ended(Self.places[0], at: 10)
        #expect(reading.isDone && reading.done == 13)
    }

    @Test func `an end that is before the offset read changes nothing`() {
        var reading = reading()
        let took = reading.took(record(8, of: Self.places[0]))
        #expect(took)
        reading.ended(Self.places[0], at: 3)
        #expect(reading.done == 9)
    }

    @Test func `offsets behind the last stable offset are hidden, from where the reading began`() {
        var reading = reading()
        let place = Self.places[0], other = Self.places[1]
        #expect(reading.hidden(behind: [place: 10, other: 8]).isEmpty)
        #expect(reading.hidden(behind: [place: 4, other: 2]) == [place: 4..<10, other: 5..<8])
        #expect(reading.hidden(behind: [:]).isEmpty, "nobody knows where the committed records end")
        let took = reading.took(record(7, of: other))
        #expect(took)
        #expect(reading.hidden(behind: [place: 4, other: 2]) == [place: 4..<10])
        #expect(reading.unread == [place])
    }

    @Test func `a reading stands still at the first partition that is neither read nor hidden`() {
        var reading = reading()
        #expect(reading.stall(besides: [Self.places[0]: 4..<10]) == record(5, of: Self.places[1]))
        #expect(reading.stall(besides: [Self.places[0]: 4..<10, Self.places[1]: 5..<8]) == nil)
        reading.ended(Self.places[0], at: 10)
        reading.ended(Self.places[1], at: 8)
        #expect(reading.stall(besides: [:]) == nil)
    }

    @Test func `hidden offsets are reported with their place, their age and the way on`() {
        let since = UnixTime(seconds: 1_763_640_000)
        let one = HiddenOffsets(Self.places[2], count: 1, since: since)
        #expect(
            one.fact
                == "1 offset of tokens lies behind an open transaction (since \(since)): what they hold is unknown")
        var some = HiddenOffsets(Self.places[0], count: 2, since: nil)
        some.add(one)
        #expect(some.fact == "3 offsets of tokens lie behind an open transaction: what they hold is unknown")
        for words in ["remint status", "describe-producers --topic tokens --partition 0", some.fact] {
            #expect(some.description.contains(words), "\(some)")
        }
    }
}
