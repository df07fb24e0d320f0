import AdapterKit
import Kafka

/// The asks for tokens on their way to a worker. One subject and device has one at a time. A value without a clock.
struct AsksUnderWay: Sendable {
    /// An ask that was sent.
    struct Ask: Sendable, Equatable {
        /// The id of the ask's event.
        let event: String
        /// The version that was known then; a newer one answers the ask.
        let after: Int64
        let sentAt: UnixTime
        /// The brokers' answer about the event.
        fileprivate(set) var delivery = Delivery()
        /// The event's place; nil while it is unknown.
        fileprivate(set) var place: DeliveredPlace?

        static func == (one: Ask, other: Ask) -> Bool {
            one.event == other.event && one.after == other.after && one.sentAt == other.sentAt
        }
    }

    /// The age up to which an unanswered ask counts as late rather than lost, in microseconds.
    private static let patience: Int64 = 15_000_000
    private let capacity: Int
    private var asks: [[UInt8]: Ask] = [:]

    /// Remembers at most `capacity` asks.
    init(capacity: Int = 200_000) { self.capacity = capacity }

    /// Returns the ask of `name` that is under way and that `version` does not answer; nil where another ask may be
    /// sent.
    ///
    /// - Parameter unseen: the highest version that an unknown token may have. An ask that was sent earlier may have
    ///   been answered, and its answer forgotten.
    func current(_ name: [UInt8], version: Int64, unseen: Int64 = 0, at now: UnixTime) -> Ask? {
        guard let ask = asks[name], version <= ask.after, unseen < ask.sentAt.microseconds else { return nil }
        let age = now.microseconds(since: ask.sentAt)
        return (0..<Self.patience).contains(age) ? ask : nil
    }

    /// Returns whether `version` answers the ask of `name`, and the ask was the same event `event`: a report that was
    /// repeated because its answer was lost on the way.
    func answered(_ name: [UInt8], event: String, version: Int64, at now: UnixTime) -> Bool {
        guard let ask = asks[name], ask.event == event, version > ask.after else { return false }
        return (0..<Self.patience * 4).contains(now.microseconds(since: ask.sentAt))
    }

    /// Notes that an ask was sent.
    mutating func sent(_ ask: Ask, as name: [UInt8]) {
        if asks.count >= capacity {
            asks = asks.filter { ask.sentAt.microseconds(since: $0.value.sentAt) < Self.patience }
            if asks.count >= capacity { asks = [:] }
        }
        asks[name] = ask
    }

    /// Notes that the brokers accepted the event `event` of an ask at `place`. Its delivery then needs no object of its own.
    mutating func taken(_ name: [UInt8], event: String, at place: DeliveredPlace? = nil) {
        guard asks[name]?.event == event else { return }
        asks[name]?.delivery = .taken
        asks[name]?.place = place
    }

    /// Notes that the event `event` of an ask could not be sent, or ended without a token; the next ask may follow at
    /// once.
    mutating func ended(_ name: [UInt8], event: String) {
        if asks[name]?.event == event { asks[name] = nil }
    }
}
