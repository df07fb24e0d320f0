import AdapterKit
import Kafka
import Synchronization
import Testing

@testable import Pickup

/// The progress of workers, by the offsets that they committed.
@Suite struct AskProgressTests {
    private static let start = UnixTime(seconds: 1_800_000_000)
    private static let (left, right) = (
        TopicPartition(topic: "t", partition: 0), TopicPartition(topic: "t", partition: 1)
    )

    private static func after(_ seconds: Double) -> UnixTime {
        start.advanced(byMicroseconds: Int64(seconds * 1_000_000))
    }

    @Test func `offsets are asked for once events are a second old, and until they were committed`() {
        var progress = AskProgress()
        #expect(progress.open(at: Self.start).isEmpty)
        progress.sent(Self.left, 7, at: Self.start)
        #expect(progress.open(at: Self.after(0.9)).isEmpty, "most events are handled sooner")
        #expect(progress.open(at: Self.after(1)) == [Self.left])
        progress.committed([Self.left: 7], of: [Self.left], at: Self.after(1))
        progress.committed([Self.left: 8], of: [Self.left], at: Self.after(2))
        #expect(progress.open(at: Self.after(3)) == [Self.left], "what was published for it may still arrive")
        progress.committed([Self.left: 8], of: [Self.left], at: Self.after(3))
        #expect(progress.open(at: Self.after(4)).isEmpty)
    }

    @Test func `an event counts as handled in the answer after the one that covers it`() {
        var progress = AskProgress()
        progress.sent(Self.left, 7, at: Self.start)
        progress.committed([Self.left: 8], of: [Self.left], at: Self.after(1))
        #expect(progress.handled.isEmpty)
        progress.committed([Self.left: 9], of: [Self.left], at: Self.after(2))
        #expect(progress.handled == [Self.left: 8])
    }

    @Test func `an answer whose tokens were not read yet ends no call, and shows all the same whether workers get on`()
    {
        var progress = AskProgress()
        progress.sent(Self.left, 7, at: Self.start)
        for second in 1...20 {
            progress.committed([Self.left: 7], of: [Self.left], isRead: false, at: Self.after(Double(second)))
        }
        #expect(progress.stuckSince(at: Self.after(20)) == Self.start)
        for second in 21...22 {
            progress.committed([Self.left: 8], of: [Self.left], isRead: false, at: Self.after(Double(second)))
        }
        #expect(progress.handled.isEmpty && progress.stuckSince(at: Self.after(22)) == nil)
        #expect(progress.open(at: Self.after(23)) == [Self.left])
        progress.committed([Self.left: 8], of: [Self.left], at: Self.after(23))
        #expect(progress.handled == [Self.left: 8])
        #expect(progress.open(at: Self.after(24)).isEmpty)
    }

    @Test func `workers that commit nothing for ten seconds while events wait do not answer`() {
        var progress = AskProgress()
        progress.sent(Self.left, 7, at: Self.start)
        #expect(progress.stuckSince(at: Self.after(60)) == nil, "nobody was asked")
        for second in 1...20 {
            progress.committed([Self.left: 7], of: [Self.left], at: Self.after(Double(second)))
        }
        #expect(progress.stuckSince(at: Self.after(9)) == nil)
        #expect(progress.stuckSince(at: Self.after(20)) == Self.start)
        progress.committed([Self.left: 8], of: [Self.left], at: Self.after(21))
        #expect(progress.stuckSince(at: Self.after(21)) == nil)
        #expect(progress.stuckSince(at: Self.after(60)) == nil, "it was handled, whatever came of it")
    }

    @Test func `a group that never committed anything does not answer`() {
        var progress = AskProgress()
        progress.sent(Self.left, 0, at: Self.start)
        progress.committed([:], of: [Self.left], at: Self.after(11))
        #expect(progress.stuckSince(at: Self.after(11)) == Self.start)
        #expect(!progress.hasMoved)
    }

    @Test func `workers that are late, or of which one hangs, answer`() {
        var progress = AskProgress()
        for offset: Int64 in 0..<60 {
            let now = Self.after(Double(offset))
            progress.sent(Self.left, 1000 + offset, at: now)
            progress.sent(Self.right, offset, at: now)
            // The left one has a long way to go; nobody commits the right one.
            progress.committed(
                [Self.left: 100 + offset, Self.right: 0], of: [Self.left, Self.right], at: now)
            #expect(progress.stuckSince(at: now) == nil)
        }
        #expect(progress.stuckSince(at: Self.after(70)) != nil)
    }

    @Test func `events of a pause do not count against the workers before they had their time`() {
        var progress = AskProgress()
        progress.sent(Self.left, 7, at: Self.start)
        progress.committed([Self.left: 7], of: [Self.left], at: Self.after(100))
        progress.resume(at: Self.after(100))
        #expect(progress.stuckSince(at: Self.after(109)) == nil)
        #expect(progress.stuckSince(at: Self.after(110)) == Self.start)
    }

    @Test func `memory has a bound for each partition, and ends for all but the oldest events`() {
        var progress = AskProgress()
        for second in 0..<500 { progress.sent(Self.left, Int64(second), at: Self.after(Double(second))) }
        progress.committed([Self.left: 450], of: [Self.left], at: Self.after(500))
        progress.committed([Self.left: 450], of: [Self.left], at: Self.after(501))
        #expect(progress.open(at: Self.after(502)) == [Self.left], "the last group stands for all that had no room")
        #expect(progress.open(at: Self.after(1200)) == [Self.left], "nobody handled them")
        progress.committed([Self.left: 500], of: [Self.left], at: Self.after(1201))
        progress.committed([Self.left: 500], of: [Self.left], at: Self.after(1202))
        #expect(progress.open(at: Self.after(1203)).isEmpty)
    }

    @Test func `events of a topic that was created again are gone, whichever way that shows`() {
        var progress = AskProgress()
        progress.sent(Self.left, 7, at: Self.start)
        progress.committed([Self.left: 5], of: [Self.left], at: Self.after(11))
        #expect(progress.stuckSince(at: Self.after(11)) == Self.start && progress.lastChange == nil)
        var other = progress
        progress.committed([:], of: [Self.left], at: Self.after(12))
        #expect(progress.stuckSince(at: Self.after(30)) == nil && progress.lastChange == Self.after(12))
        #expect(progress.open(at: Self.after(30)).isEmpty)
        other.createdAgain("t", at: Self.after(12))
        #expect(other.stuckSince(at: Self.after(30)) == nil && other.lastChange == Self.after(12))
    }

    @Test func `a call whose event a worker is done with ends, and no other one`() {
        let now = Self.start
        let waiters = TokenWaiters()
        let ended = Ended()
        func wait(_ name: String, _ place: DeliveredPlace?, _ delivery: Delivery? = nil) {
            var event = SampleLetter.awaited(name)
            (event.place, event.delivery) = (place, delivery)
            waiters.wait(
                for: [1], after: now.microseconds, event: event, until: .now + .seconds(600), unless: { nil }
            ) {
                if case .handled = $0 { ended.take(name) }
            }
        }
        let delivered = Delivery()
        delivered.end(.taken(at: DeliveredPlace(partition: 0, offset: 4)))
        wait("handled", DeliveredPlace(partition: 0, offset: 5))
        wait("delivered", nil, delivered)
        wait("next", DeliveredPlace(partition: 0, offset: 6))
        wait("elsewhere", DeliveredPlace(partition: 1, offset: 0))
        wait("nowhere", nil, Delivery.taken)
        waiters.handled([TopicPartition(topic: SampleLetter.awaited("e").topic, partition: 0): 6])
        #expect(ended.names.sorted() == ["delivered", "handled"])
        #expect(waiters.count == 3)
    }
}

/// The names of finished calls.
private final class Ended: Sendable {
    private let state = Mutex<[String]>([])

    var names: [String] { state.withLock { $0 } }

    func take(_ name: String) { state.withLock { $0.append(name) } }
}
