import AdapterKit
import Kafka
import Synchronization
import Testing

@testable import Pickup

/// The brokers' answer about an event, as all calls hear it that share the event.
@Suite(.timeLimit(.minutes(5))) struct DeliveryTests {
    private static func detail(_ word: Delivery.Word?) -> String? {
        switch word {
        case .taken: "taken"
        case .refused(let problem): problem.detail
        case nil: nil
        }
    }

    @Test func `every call hears the first word, whether it came before it or after`() async {
        let delivery = Delivery()
        let early = (0..<3).map { _ in Task { Self.detail(await delivery.word(within: .seconds(240))) } }
        delivery.end(.refused(.silent))
        delivery.end(.taken(at: nil))
        for task in early { #expect(await task.value == Problem.silent.detail) }
        #expect(Self.detail(await delivery.word(within: .zero)) == Problem.silent.detail)
        #expect(Self.detail(delivery.word) == Problem.silent.detail)
    }

    @Test func `a call whose time is over hears nothing, and the others still do`() async {
        let delivery = Delivery()
        let other = Task { Self.detail(await delivery.word(within: .seconds(240))) }
        #expect(Self.detail(await delivery.word(within: .zero)) == nil)
        delivery.end(.taken(at: nil))
        #expect(await other.value == "taken")
    }

    @Test func `an ask whose event was not accepted is under way no more, and its calls hear of it`() async {
        let now = UnixTime(seconds: 1_800_000_000)
        let store = TokenStore(capacity: 1 << 20) { now }
        let ask = AsksUnderWay.Ask(event: "e-1", after: 0, sentAt: now)
        store.asks.withLock { $0.sent(ask, as: [1]) }
        let record = ProducerRecord(topic: "t", key: SampleLetter.key, value: [])
        let arrival = await withCheckedContinuation { continuation in
            store.waiters.wait(
                for: [1], after: 0, event: SampleLetter.awaited("e-1"), until: .now + .seconds(240), unless: { nil }
            ) { continuation.resume(returning: $0) }
            store.delivered(OutgoingAsk(record: record, name: [1], ask: ask), .refused(.silent))
        }
        guard case .unsent(let problem) = arrival else { Issue.record("not answered"); return }
        #expect(problem.detail == Problem.silent.detail)
        #expect(Self.detail(ask.delivery.word) == problem.detail, "a call that shares it a moment later hears it, too")
        #expect(store.asks.withLock { $0.current([1], version: 0, at: now) } == nil)
    }

    @Test func `a call that shares an accepted event hears of it at once`() async {
        let now = UnixTime(seconds: 1_800_000_000)
        let store = TokenStore(capacity: 1 << 20) { now }
        let ask = AsksUnderWay.Ask(event: "e-1", after: 0, sentAt: now)
        store.asks.withLock { $0.sent(ask, as: [1]) }
        let record = ProducerRecord(topic: "t", key: SampleLetter.key, value: [])
        store.delivered(OutgoingAsk(record: record, name: [1], ask: ask), .taken(at: nil))
        let current = store.asks.withLock { $0.current([1], version: 0, at: now) }
        #expect(
            current == ask && current?.delivery === Delivery.taken, "an ask that was sent costs no delivery of its own")
        #expect(Self.detail(await current?.delivery.word(within: .zero)) == "taken")
    }

    @Test func `the word about an earlier event leaves a later ask alone`() {
        let now = UnixTime(seconds: 1_800_000_000)
        let store = TokenStore(capacity: 1 << 20) { now }
        let (old, new) = (
            AsksUnderWay.Ask(event: "e-1", after: 0, sentAt: now), AsksUnderWay.Ask(event: "e-2", after: 0, sentAt: now)
        )
        store.asks.withLock { $0.sent(new, as: [1]) }
        let record = ProducerRecord(topic: "t", key: SampleLetter.key, value: [])
        store.delivered(OutgoingAsk(record: record, name: [1], ask: old), .refused(.silent))
        #expect(store.asks.withLock { $0.current([1], version: 0, at: now) } == new)
    }
}
