import AdapterKit

/// Which asks for a token are on their way to a worker, so that one subject and device has one at a time. A value without a
/// clock.
struct AsksUnderWay: Sendable {
    /// An ask that was sent.
    struct Ask: Sendable, Equatable {
        /// Its event's id.
        let event: String
        /// The version that was known then: a newer one answers it.
        let after: Int64
        let sentAt: UnixTime
        /// The brokers' answer about its event.
        fileprivate(set) var delivery = Delivery()

        static func == (one: Ask, other: Ask) -> Bool {
            one.event == other.event && one.after == other.after && one.sentAt == other.sentAt
        }
    }

    /// How long an ask is taken for answered late rather than lost, in microseconds.
    private static let patience: Int64 = 15_000_000
    private let capacity: Int
    private var asks: [[UInt8]: Ask] = [:]

    /// Remembers at most `capacity` asks.
    init(capacity: Int = 200_000) { self.capacity = capacity }

    /// The ask of `name` that is on its way and not answered by `version`; nil where another may be sent.
    ///
    /// - Parameter unseen: the highest version that an unknown token may have: an ask that was sent before may have been answered,
    ///   and its answer forgotten.
    func current(_ name: [UInt8], version: Int64, unseen: Int64 = 0, at now: UnixTime) -> Ask? {
        guard let ask = asks[name], version <= ask.after, unseen < ask.sentAt.microseconds else { return nil }
        let age = now.microseconds(since: ask.sentAt)
        return (0..<Self.patience).contains(age) ? ask : nil
    }

    /// The ask that `version` answers and that was the very event `event`: the same report once more, whose answer was lost on the
    /// way.
    func answered(_ name: [UInt8], event: String, version: Int64, at now: UnixTime) -> Bool {
        guard let ask = asks[name], ask.event == event, version > ask.after else { return false }
        return (0..<Self.patience * 4).contains(now.microseconds(since: ask.sentAt))
    }

    /// An ask is sent.
    mutating func sent(_ ask: Ask, as name: [UInt8]) {
        if asks.count >= capacity {
            asks = asks.filter { ask.sentAt.microseconds(since: $0.value.sentAt) < Self.patience }
            if asks.count >= capacity { asks = [:] }
        }
        asks[name] = ask
    }

    /// The brokers took the event `event` of an ask: from then on it needs no word of its own.
    mutating func taken(_ name: [UInt8], event: String) {
        if asks[name]?.event == event { asks[name]?.delivery = .taken }
    }

    /// The ask of the event `event` failed to be sent, or ended without a token: the next may go at once.
    mutating func ended(_ name: [UInt8], event: String) {
        if asks[name]?.event == event { asks[name] = nil }
    }
}
