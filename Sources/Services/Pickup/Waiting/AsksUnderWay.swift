import AdapterKit
import DequeModule
import Kafka

/// The asks for tokens on their way to a worker. One subject and device has one at a time. An ask is forgotten after a
/// minute, and the oldest ones earlier where all together exceed their memory. A value without a clock.
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
    private static let maximumAge: Int64 = 15_000_000
    /// The age up to which the repetition of a report is recognized, in microseconds.
    private static let memory: Int64 = 60_000_000
    /// The memory of an ask beside its name, in bytes.
    private static let overhead = 260
    private let budget: Int
    private var asks: [[UInt8]: Ask] = [:]
    /// The asks by age, and those that are gone since.
    private var order: Deque<(name: [UInt8], sentAt: UnixTime)> = []
    /// The memory of all asks, in bytes.
    private(set) var bytes = 0

    /// Remembers asks of at most `budget` bytes.
    init(budget: Int = 8 << 20) { self.budget = budget }

    /// The number of asks.
    var count: Int { asks.count }

    /// Returns the ask of `name` that is under way and that `version` does not answer; nil where another ask may be
    /// sent.
    ///
    /// - Parameter unseen: the highest version that an unknown token may have. An ask that was sent earlier may have
    ///   been answered, and its answer forgotten.
    func current(_ name: [UInt8], version: Int64, unseen: Int64 = 0, at now: UnixTime) -> Ask? {
        guard let ask = asks[name], version <= ask.after, unseen < ask.sentAt.microseconds else { return nil }
        let age = now.microseconds(since: ask.sentAt)
        return (0..<Self.maximumAge).contains(age) ? ask : nil
    }

    /// Returns whether `version` answers the ask of `name`, and the ask was the same event `event`: a report that was
    /// repeated because its answer was lost on the way.
    func answered(_ name: [UInt8], event: String, version: Int64, at now: UnixTime) -> Bool {
        guard let ask = asks[name], ask.event == event, version > ask.after else { return false }
        return (0..<Self.memory).contains(now.microseconds(since: ask.sentAt))
    }

    /// Notes that an ask was sent.
    mutating func sent(_ ask: Ask, as name: [UInt8]) {
        remove(name)
        asks[name] = ask
        bytes += name.count + Self.overhead
        order.append((name, ask.sentAt))
        sweep(at: ask.sentAt)
        while bytes > budget, let oldest = order.popFirst() { removeIfSent(oldest) }
    }

    /// Notes that the brokers accepted the event `event` of an ask at `place`. Its delivery then needs no object of its own.
    mutating func taken(_ name: [UInt8], event: String, at place: DeliveredPlace? = nil) {
        guard asks[name]?.event == event else { return }
        asks[name]?.delivery = .taken
        asks[name]?.place = place
    }

    /// Notes that the event `event` of an ask could not be sent, or finished without a token; the next ask may follow
    /// at once.
    mutating func ended(_ name: [UInt8], event: String) {
        if asks[name]?.event == event { remove(name) }
    }

    /// Forgets the asks that nobody joins or repeats any more at `now`.
    mutating func sweep(at now: UnixTime) {
        while let oldest = order.first, !(0..<Self.memory).contains(now.microseconds(since: oldest.sentAt)) {
            order.removeFirst()
            removeIfSent(oldest)
        }
        if order.count > asks.count * 2 + 64 { order = Deque(order.filter { asks[$0.name]?.sentAt == $0.sentAt }) }
        // A table keeps the memory of its largest size.
        if asks.capacity > asks.count * 8 + 1024 { asks = Dictionary(uniqueKeysWithValues: asks.map { ($0, $1) }) }
    }

    private mutating func removeIfSent(_ ask: (name: [UInt8], sentAt: UnixTime)) {
        if asks[ask.name]?.sentAt == ask.sentAt { remove(ask.name) }
    }

    private mutating func remove(_ name: [UInt8]) {
        if asks.removeValue(forKey: name) != nil { bytes -= name.count + Self.overhead }
    }
}
