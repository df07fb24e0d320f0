import AdapterKit
import DequeModule
import Kafka
import Synchronization

/// The asks for tokens on their way to a worker. One subject and device has one at a time. An ask is forgotten after a
/// minute, and the oldest ones earlier where all together exceed their memory. A value without a clock.
struct AsksUnderWay: Sendable {
    struct Ask: Sendable, Equatable {
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

/// An ask whose event is sent to a worker.
struct OutgoingAsk: Sendable {
    let record: ProducerRecord
    /// The name of the ask among those under way.
    let name: [UInt8]
    let ask: AsksUnderWay.Ask
}

/// The asks of suspended apps that reach a worker all the same, so that it finds probes: the first one of each user in a
/// suspension, and beyond that one every two seconds for each app. So accounts that ask all the time keep no other user
/// from a worker. A value without a clock.
struct ProbeAsks: Sendable {
    private struct App {
        let since: UnixTime
        var latest: UnixTime?
        var users: Set<Int> = []
    }

    /// The interval between two asks of an app, in microseconds.
    private static let interval: Int64 = 2_000_000
    /// The maximum number of users of an app who are remembered.
    private static let mostUsers = 100_000
    private var apps: [String: App] = [:]

    /// Returns whether an ask for `user`, a subject key without a challenge, may reach a worker now, in the suspension of
    /// `app` that began at `since`.
    mutating func admits(_ user: [UInt8], of app: String, since: UnixTime, at now: UnixTime) -> Bool {
        var asks = apps.removeValue(forKey: app).flatMap { $0.since == since ? $0 : nil } ?? App(since: since)
        defer { apps[app] = asks }
        if asks.users.count < Self.mostUsers, asks.users.insert(user.hashValue).inserted { return true }
        if let last = asks.latest, (0..<Self.interval).contains(now.microseconds(since: last)) { return false }
        asks.latest = now
        return true
    }
}

/// The brokers' answer about an event that was sent: one for all calls that share the event.
final class Delivery: Sendable {
    enum Word: Sendable {
        /// The brokers accepted the event, and gave it this place; nil where they did not name it.
        case taken(at: DeliveredPlace?)
        /// The brokers did not accept the event; its callers get this problem.
        case refused(Problem)
    }

    static let taken = {
        let delivery = Delivery()
        delivery.end(.taken(at: nil))
        return delivery
    }()

    private struct State {
        var word: Word?
        var waiting: [Int: CheckedContinuation<Word?, Never>] = [:]
        /// The waits that were over before they began.
        var over: Set<Int> = []
        var next = 0
    }

    private let state = Mutex(State())

    /// The answer; nil while there is none.
    var word: Word? { state.withLock { $0.word } }

    /// Records the answer. Only the first one counts.
    func end(_ word: Word) {
        let waiting = state.withLock { state in
            guard state.word == nil else { return [CheckedContinuation<Word?, Never>]() }
            state.word = word
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: word) }
    }

    func word(within wait: Duration) async -> Word? {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let timer = Task {
            // The limit of the wait itself; canceled by the answer.
            try await Task.sleep(for: wait)
            expire(number)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            let (isOver, word) = state.withLock { state -> (Bool, Word?) in
                let isOver = state.over.remove(number) != nil || state.word != nil
                if !isOver { state.waiting[number] = continuation }
                return (isOver, state.word)
            }
            if isOver { continuation.resume(returning: word) }
        }
    }

    private func expire(_ number: Int) {
        let continuation = state.withLock { state in
            let continuation = state.waiting.removeValue(forKey: number)
            if continuation == nil { state.over.insert(number) }
            return continuation
        }
        continuation?.resume(returning: nil)
    }
}
