import AdapterKit
import Kafka
import Pipeline
import Synchronization

enum Arrival: Sendable {
    /// A token, newer than what was known.
    case token(HeldToken)
    case deadLetter(ErrorCode)
    case unsent(Problem)
    /// A worker is done with the event, and published nothing for it.
    case handled
    /// Nothing came before the end of the wait.
    case nothing
    case draining
}

/// The callers that wait for a subject's next token, or for an event's outcome.
///
/// One ticker ends all waits that are over: ten thousand devices need no timer each.
final class TokenWaiters: Sendable {
    private struct Waiter {
        let key: [UInt8]
        let after: Int64
        let known: Int64
        let event: AwaitedEvent?
        let until: ContinuousClock.Instant
        let done: @Sendable (Arrival) -> Void

        func wants(_ token: HeldToken, isPast: Bool) -> Bool { token.version > (isPast ? after : known) }
    }

    private struct State {
        var waiters: [Int: Waiter] = [:]
        var byKey: [[UInt8]: [Int]] = [:]
        var byEvent: [String: [Int]] = [:]
        var next = 0
        var isDraining = false
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.waiters.count } }

    var keys: Set<[UInt8]> { state.withLock { Set($0.byKey.keys) } }

    /// Waits for a token of `key` above `after`, or for the end of `event`, until `until`.
    ///
    /// - Parameters:
    ///   - known: the version that a token published now must exceed; nil for `after`. A token from the topic's past
    ///     must exceed `after`.
    ///   - check: called after the wait has begun, so that nothing that arrived in between is missed.
    ///   - done: called with the result, once, on any thread.
    func wait(
        for key: [UInt8], after: Int64, known: Int64? = nil, event: AwaitedEvent? = nil,
        until: ContinuousClock.Instant, unless check: () -> Arrival?, _ done: @escaping @Sendable (Arrival) -> Void
    ) {
        let number = state.withLock { state -> Int? in
            guard !state.isDraining else { return nil }
            let number = state.next
            state.next += 1
            state.waiters[number] = Waiter(
                key: key, after: after, known: known ?? after, event: event, until: until, done: done)
            state.byKey[key, default: []].append(number)
            if let event { state.byEvent[event.id, default: []].append(number) }
            return number
        }
        guard let number else { return done(.draining) }
        if let arrival = check(), let waiter = state.withLock({ Self.take(number, from: &$0) }) {
            waiter.done(arrival)
        }
    }

    /// Ends the waits for a token of `key`, which was published or read from the topic's past.
    func came(_ token: HeldToken, for key: [UInt8], isPast: Bool = false) {
        end(.token(token)) { state in
            (state.byKey[key] ?? []).filter { state.waiters[$0]?.wants(token, isPast: isPast) == true }
        }
    }

    /// Returns whether a call waits for the end of the event with this id.
    func isAwaited(_ event: String) -> Bool { state.withLock { $0.byEvent[event] != nil } }

    /// Ends the waits for the event of `letter`, a dead letter under `key`. A letter of another event with the same id
    /// ends none.
    func died(_ letter: DeadLetterEntry, key: [UInt8]?) {
        guard let event = letter.eventID, let code = letter.code else { return }
        end(.deadLetter(code)) { state in
            (state.byEvent[event] ?? []).filter { state.waiters[$0]?.event?.isEnded(by: letter, key: key) == true }
        }
    }

    /// Ends the waits for the event `event`, which could not be sent.
    func unsent(_ event: String, _ problem: Problem) { end(.unsent(problem)) { $0.byEvent[event] ?? [] } }

    /// Ends the waits for events that workers are done with: those before `offsets`, by partition.
    func handled(_ offsets: [TopicPartition: Int64]) {
        end(.handled) { state in state.waiters.filter { $0.value.event?.isHandled(offsets) == true }.map(\.key) }
    }

    /// Ends the waits that are over at `now`.
    func expire(at now: ContinuousClock.Instant) {
        end(.nothing) { state in state.waiters.filter { $0.value.until <= now }.map(\.key) }
    }

    /// Ends the waits with these numbers, each outside of the lock.
    private func end(_ arrival: Arrival, _ numbers: (State) -> [Int]) {
        let waiters = state.withLock { state in numbers(state).compactMap { Self.take($0, from: &state) } }
        for waiter in waiters { waiter.done(arrival) }
    }

    /// Ends at most `count` waits, for the gateway's stop. Ending all at once would stall every other call.
    ///
    /// - Returns: whether more wait.
    func drain(atMost count: Int) -> Bool {
        let (waiters, hasMore) = state.withLock { state in
            state.isDraining = true
            let waiters = state.waiters.keys.prefix(count).compactMap { Self.take($0, from: &state) }
            return (waiters, !state.waiters.isEmpty)
        }
        for waiter in waiters { waiter.done(.draining) }
        return hasMore
    }

    private static func take(_ number: Int, from state: inout State) -> Waiter? {
        guard let waiter = state.waiters.removeValue(forKey: number) else { return nil }
        state.byKey[waiter.key]?.removeAll { $0 == number }
        if state.byKey[waiter.key]?.isEmpty == true { state.byKey[waiter.key] = nil }
        if let event = waiter.event {
            state.byEvent[event.id]?.removeAll { $0 == number }
            if state.byEvent[event.id]?.isEmpty == true { state.byEvent[event.id] = nil }
        }
        return waiter
    }
}

/// An event of the gateway that a call waits for.
///
/// Only the event's own dead letter ends the wait. The letter must have the event's id, which nobody can guess, its
/// subject's key, its app, and the topic that the gateway wrote it to.
struct AwaitedEvent: Sendable {
    let id: String
    /// The key of the event's record: the subject key, without a challenge.
    let key: [UInt8]
    let app: String
    let topic: String
    /// The brokers' answer about the event; nil where it is of no interest.
    var delivery: Delivery?
    /// The event's place, where it was known before the wait began.
    var place: DeliveredPlace?

    func isEnded(by letter: DeadLetterEntry, key: [UInt8]?) -> Bool {
        letter.fault == nil && key == self.key && id.hasSameBytes(as: letter.eventID)
            && app.hasSameBytes(as: letter.app) && letter.origin.map { topic.hasSameBytes(as: $0.topic) } == true
    }

    /// Returns whether a worker is done with the event, where the workers' group committed `offsets`.
    func isHandled(_ offsets: [TopicPartition: Int64]) -> Bool {
        var place = place
        if place == nil, case .taken(let taken)? = delivery?.word { place = taken }
        guard let place, let next = offsets[TopicPartition(topic: topic, partition: place.partition)] else {
            return false
        }
        return place.offset < next
    }
}
