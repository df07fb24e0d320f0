import AdapterKit
import Kafka
import Pipeline
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Operations

/// Tests of the records that park, unpark or redrive a dead letter.
@Suite struct ParkingTests {
    private static let died = "2026-11-21T10:00:00Z"
    private static let parking = Parking(at: UnixTime(seconds: 1_800_000_000), by: "ann", reason: "the vendor answers")

    private static func configuration() throws -> Configuration {
        try readConfiguration(
            """
            kafka: { bootstrap_servers: 127.0.0.1:9092, group: shop }
            keys: { a: { path: a } }
            apps: { app: { adapter: braze, key: a, lifetime: 12h } }
            """)
    }

    /// A dead letter at 1/7 of its topic, from 0/3 of the bulk topic, of an event with a header that no event may have.
    private static func letter(code: String? = "key_unavailable", size: String? = nil) -> InputRecord {
        let named: [(String, String?)] = [
            ("remint-app", "app"), (HopHeaders.code, code), (HopHeaders.stage, "mint"), (HopHeaders.failedAt, died),
            (HopHeaders.topic, "remint.invalidations.bulk"), (HopHeaders.partition, "0"), (HopHeaders.offset, "3"),
            (HopHeaders.timestamp, "5"), (HopHeaders.redrives, "1"), (HopHeaders.size, size),
            (HopHeaders.parkedEnd, "redriven"),
        ]
        return record(
            Array("key".utf8), Array(#"{"code":25}"#.utf8),
            named.compactMap { name, value in value.map { RecordHeader(name, $0) } },
            at: RecordPosition(topic: "remint.dead-letters", partition: 1, offset: 7))
    }

    private static func record(
        _ key: [UInt8]?, _ value: [UInt8]?, _ headers: [RecordHeader], at origin: RecordPosition
    ) -> InputRecord {
        InputRecord(origin: origin, timestamp: nil, key: key, value: value, headers: headers, lane: .retries)
    }

    /// `output` as it is read from its topic.
    private static func read(_ output: ProducerRecord, offset: Int64 = 0) -> InputRecord {
        InputRecord(
            origin: RecordPosition(topic: output.topic, partition: 0, offset: offset), timestamp: nil,
            body: output.body, lane: .retries)
    }

    private static func step(
        _ work: LetterWork, _ record: InputRecord, _ states: LetterStates = LetterStates(),
        _ filter: DeadLetterFilter = DeadLetterFilter()
    ) throws -> LetterOrder.Step {
        try LetterOrder(work, filter, configuration(), now: UnixTime(seconds: 1_800_000_000)).step(record, states)
    }

    private static func written(_ step: LetterOrder.Step) throws -> HandledLetter {
        guard case .write(let letter) = step else { throw Unwritten(step: step) }
        return letter
    }

    private struct Unwritten: Error { let step: LetterOrder.Step }

    private static func refusal(_ step: LetterOrder.Step) -> Redrive.Refusal? {
        if case .refused(let reason) = step { reason } else { nil }
    }

    @Test func `a parked letter has the time, the operator and the reason, and its copy is the mark`() throws {
        let letter = try Self.written(Self.step(.park(Self.parking), Self.letter()))
        #expect(letter.record.topic == "remint.dead-letters.parked" && letter.mark == nil)
        let copy = Self.read(letter.record)
        #expect(copy.key == Self.letter().key && copy.value == Self.letter().value)
        let parked = try #require(ParkedLetter(copy))
        #expect(parked.name == LetterName(Self.letter()))
        #expect(parked.at == Self.parking.at && parked.by == "ann" && parked.reason == "the vendor answers")
        var states = LetterStates()
        states.take(copy.body)
        states.take(copy.body)
        #expect(states.parked == 1)
        #expect(Self.refusal(try Self.step(.park(Self.parking), Self.letter(), states)) == .parked)
    }

    @Test func `a parked letter goes back to where its event came from, with a mark that ends the parking`() throws {
        let copy = Self.read(try Self.written(Self.step(.park(Self.parking), Self.letter())).record)
        let sent = try Self.written(Self.step(.redrive(maximumRedrives: 3), copy))
        let event = Self.read(sent.record)
        #expect(sent.record.topic == "remint.invalidations.bulk")
        #expect(event.key == Self.letter().key && event.value == Self.letter().value)
        #expect(event.body.text(HopHeaders.redrives) == "2")
        #expect(event.headers.filter { HopHeaders.all.contains($0.name) }.count == 1)
        let mark = Self.read(try #require(sent.mark))
        #expect(mark.origin.topic == "remint.dead-letters.parked" && mark.value == nil)
        #expect(ParkedLetter(mark) == nil)
        // In whatever order the two are read.
        for order in [[copy, mark], [mark, copy], [mark, copy, copy, mark]] {
            var states = LetterStates()
            for record in order { states.take(record.body) }
            #expect(states.parked == 0 && states[sent.name] == .done)
            guard case .other = try Self.step(.redrive(maximumRedrives: 3), copy, states) else {
                Issue.record("it would go twice")
                return
            }
            #expect(Self.refusal(try Self.step(.park(Self.parking), Self.letter(), states)) == .done)
        }
    }

    @Test func `an unparked letter is a dead letter again, at another place`() throws {
        let copy = Self.read(try Self.written(Self.step(.park(Self.parking), Self.letter())).record)
        let back = try Self.written(Self.step(.unpark, copy))
        #expect(back.record.topic == "remint.dead-letters")
        let letter = Self.read(back.record, offset: 90)
        #expect(letter.body.text(HopHeaders.failedAt) == Self.died)
        #expect(!letter.headers.contains { HopHeaders.parking.contains($0.name) })
        var states = LetterStates()
        states.take(copy.body)
        states.take(try #require(back.mark).body)
        let again = try Self.written(Self.step(.park(Self.parking), letter, states))
        #expect(again.name != back.name)
    }

    @Test func `a letter that cannot be parked or sent is refused with the reason`() throws {
        #expect(Self.refusal(try Self.step(.park(Self.parking), Self.letter(code: nil))) == .noDeadLetter)
        let large = Self.read(try Self.written(Self.step(.park(Self.parking), Self.letter(size: "9000000"))).record)
        #expect(Self.refusal(try Self.step(.redrive(maximumRedrives: 3), large)) == .byReference)
        let often = Self.read(try Self.written(Self.step(.park(Self.parking), Self.letter())).record)
        #expect(Self.refusal(try Self.step(.redrive(maximumRedrives: 1), often)) == .redrivenTooOften)
        var other = DeadLetterFilter()
        other.eventID = "another"
        guard case .other = try Self.step(.park(Self.parking), Self.letter(), LetterStates(), other) else {
            Issue.record("the filter means another event")
            return
        }
    }

    @Test(arguments: ["", "1/7", "1/7/", "-1/7/x", "1/-7/x", "1/7/x/y", "a/7/x", "1/99999999999999999999/x"])
    func `a string that is no letter's name is refused`(_ text: String) { #expect(LetterName(text: text) == nil) }

    @Test func `finished letters within the topic's bounds are subtracted from its count`() throws {
        var states = LetterStates()
        for text in ["0/4/a", "0/9/a", "1/9/a", "2/1/a"] { states.finish(try #require(LetterName(text: text))) }
        let bounds = [
            TopicPartition(topic: "d", partition: 0): Int64(5)..<10, TopicPartition(topic: "d", partition: 1): 0..<20,
        ]
        #expect(states.count(within: bounds) == 2)
    }
}
