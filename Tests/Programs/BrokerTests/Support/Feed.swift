import AsyncTestSupport
import Foundation
import Kafka
import Synchronization

/// The events of a story: every one with a user and an id of its own, some of them poison.
enum EventMix {
    enum End: Hashable { case token, deadLetter }

    /// Every fortieth is poison, every tenth is for RS256, the rest for HS256.
    static func record(_ number: Int, topic: String) -> ProducerRecord {
        let id = "event-\(number)"
        guard end(number) == .token else { return poison(number, id, topic) }
        if number % 10 == 3 {
            return report("braze-ios", #"{"code":22,"userId":"user-\#(number)"}"#, id: id, topic: topic)
        }
        return report(
            "infobip-mobile", #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"user-\#(number)"}"#, id: id, topic: topic)
    }

    static func end(_ number: Int) -> End { number % 40 == 7 ? .deadLetter : .token }

    /// Returns the required outcome of the event with this id; nil for an id that is not of this mix.
    static func end(of id: String) -> End? {
        id.hasPrefix("event-") ? Int(id.dropFirst(6)).map(end) : nil
    }

    private static func poison(_ number: Int, _ id: String, _ topic: String) -> ProducerRecord {
        switch number / 40 % 4 {
        case 0: report("braze-ios", #"{"code":22,"userId":"user-\#(number)"#, id: id, topic: topic)
        case 1: report("nobody", #"{"code":22,"userId":"user-\#(number)"}"#, id: id, topic: topic)
        case 2: report("braze-ios", #"{"code":22,"reason":"expired"}"#, id: id, topic: topic)
        default: report("braze-ios", #"{"code":25,"userId":"user-\#(number)"}"#, id: id, topic: topic)
        }
    }

    /// A raw report with the headers that route and name it. The id is the key as well, so that it is spread.
    /// - Parameter key: the record's; the event's id where nil.
    static func report(
        _ app: String, _ json: String, id: String, topic: String, key: String? = nil
    ) -> ProducerRecord {
        ProducerRecord(
            topic: topic, key: Array((key ?? id).utf8), value: Array(json.utf8),
            headers: [RecordHeader("remint-app", Array(app.utf8)), RecordHeader("remint-id", Array(id.utf8))])
    }
}

/// Produces events, each of them delivered for certain.
final class Feed: Sendable {
    private let topic: String
    private let ledger: Ledger
    private let producer: Mutex<KafkaProducer>
    private let next = Mutex(0)

    init(_ topic: String, _ ledger: Ledger) throws {
        self.topic = topic
        self.ledger = ledger
        producer = Mutex(try Cluster.makeProducer())
    }

    /// Feeds `count` events, evenly over `length`; after a delay it catches up.
    func send(_ count: Int, over length: Duration) async throws {
        let start = ContinuousClock.now
        var sent = 0
        try await eventually("the last event", within: length + .seconds(240)) {
            let share = min(1, (.now - start) / length)
            let due = Int(Double(count) * share) - sent
            if due > 0 { try await send(due) }
            sent += max(0, due)
            return sent >= count
        }
    }

    /// Feeds `count` events at once.
    func send(_ count: Int) async throws {
        var open = count
        while open > 0 {
            let first = next.withLock { next in
                defer { next += open }
                return next
            }
            let records = (first..<first + open).map { EventMix.record($0, topic: topic) }
            ledger.producing(records.compactMap(\.id))
            let errors = try await deliver(records)
            let delivered = zip(records, errors).compactMap { $1 == nil ? $0.id : nil }
            ledger.sent(delivered)
            // Nobody knows of a failed one whether it was written; another event takes its place, with another id.
            open -= delivered.count
        }
    }

    /// Produces `records`.
    ///
    /// - Returns: for each, nil or the reason why it was not delivered; the next ones use a new producer then.
    func deliver(_ records: [ProducerRecord]) async throws -> [KafkaError?] {
        try Task.checkCancellation()
        let current = producer.withLock { $0 }
        let errors = await current.deliver(records)
        if errors.contains(where: { $0 != nil }) {
            let fresh = try Cluster.makeProducer()
            producer.withLock { $0 = fresh }
            await current.close(within: .seconds(1))
        }
        return errors
    }

    func close() async { await producer.withLock { $0 }.close(within: .seconds(1)) }
}

extension ProducerRecord {
    /// The event's id, as `EventMix.report` named it.
    var id: String? {
        headers.last { $0.name == "remint-id" }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}

extension ConsumedRecord {
    func header(_ name: String) -> String? {
        headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }

    func member(_ name: String) -> String? {
        let object = value.flatMap { try? JSONSerialization.jsonObject(with: Data($0)) } as? [String: Any]
        return object?[name] as? String
    }

    var eventID: String? { header("ce_id") ?? header("remint-id") }
}
