/// The time in which no broker is reachable. A value without a clock: times are lengths since any moment that the caller
/// keeps to.
///
/// The clients report lost connections by dozens, and no client reports their return. An operator gets one line for the
/// loss, once it has lasted for some seconds, and one for its end.
struct BrokerOutage: Sendable {
    enum Notice: Sendable, Equatable {
        /// No broker has been reachable for this time.
        case lost(for: Duration, String)
        /// The brokers are reachable again, after this time.
        case back(after: Duration)
    }

    /// The length of an outage from which it is logged. Brokers that close idle connections, or change places, are back
    /// sooner.
    static let minimumLength = Duration.seconds(5)

    private var start: Duration?
    private var isLogged = false
    /// The last failure of a connection.
    private(set) var reason: String?

    var isOngoing: Bool { start != nil }

    mutating func failed(_ reason: String) { self.reason = reason }

    mutating func lost(at now: Duration) { start = start ?? now }

    mutating func check(at now: Duration) -> Notice? {
        guard let start, !isLogged, now - start >= Self.minimumLength else { return nil }
        isLogged = true
        return .lost(for: now - start, reason ?? "no reason is known")
    }

    /// Records that a broker answered.
    ///
    /// - Returns: the line about the outage's end; nil if its start was not logged.
    mutating func ended(at now: Duration) -> Notice? {
        defer { self = BrokerOutage() }
        guard let start, isLogged else { return nil }
        return .back(after: max(.zero, now - start))
    }
}
