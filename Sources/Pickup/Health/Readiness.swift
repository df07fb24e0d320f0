import Access
import AdapterKit
import HTTPTransport

/// Whether the gateway can serve devices, and what keeps it from that. A value without a clock.
struct Readiness: Sendable, Equatable {
    /// What the gateway needs to be ready.
    enum Dependency: String, Sendable, CaseIterable {
        /// The brokers answer.
        case brokers
        /// The token topic is followed.
        case tokens
        /// A worker is there to mint tokens.
        case workers
        /// The clock agrees with those that date tokens' records.
        case clock
        /// Sessions can be checked.
        case sessions
        /// The certificate that devices see is valid.
        case certificate
        /// The gateway is not about to stop.
        case gateway
    }

    /// The facts that readiness follows from.
    struct Facts: Sendable {
        /// Whether the gateway was told to stop.
        var isStopping = false
        /// Which partitions of the token topic are followed, and since when no broker answers.
        var tail = TailState()
        /// The moment from which no worker is in the group; nil while one is, and while nobody knows.
        var workersAbsentSince: UnixTime?
        /// The moment from which no worker answers what is asked; nil where one does or nobody knows.
        var unansweredSince: UnixTime?
        /// By how much the clock is ahead of those that date tokens' records, in microseconds; nil where it agrees or nobody knows.
        var clockDifference: Int64?
        /// The session issuers' keys; empty where only backends ask.
        var sessions: [FetchedKeys.Condition] = []
        /// The end of the certificate that devices see; nil for plain text.
        var certificateEnd: UnixTime?
    }

    /// What the gateway needs, each with what is wrong with it; nil where nothing is.
    let dependencies: [(dependency: Dependency, problem: String?)]

    /// Whether nothing is wrong.
    var isReady: Bool { dependencies.allSatisfy { $0.problem == nil } }

    /// The readiness that follows from `facts` at the time `now`.
    init(_ facts: Facts, at now: UnixTime) {
        var found: [(Dependency, String?)] = [
            (.brokers, facts.tail.silentSince.map { "no broker answers since \($0)" }),
            (.tokens, Self.tokens(facts.tail)),
            (.workers, Self.workers(facts)),
            (.clock, facts.clockDifference.map(Self.clock)),
        ]
        if !facts.sessions.isEmpty { found.append((.sessions, facts.sessions.lazy.compactMap(Self.problem).first)) }
        if let end = facts.certificateEnd {
            found.append((.certificate, end.seconds > now.seconds ? nil : "pickup.tls.certificate expired at \(end)"))
        }
        found.append((.gateway, facts.isStopping ? "the gateway is about to stop" : nil))
        dependencies = found
    }

    private static func tokens(_ tail: TailState) -> String? {
        guard let behind = tail.behind else { return "the token topic is not followed" }
        switch behind {
        case 0: return tail.followed.isEmpty ? "no partition of the token topic has a leader" : nil
        case 1: return "1 partition is not followed yet"
        default: return "\(behind) partitions are not followed yet"
        }
    }

    private static func workers(_ facts: Facts) -> String? {
        facts.workersAbsentSince.map { "no worker is in the group since \($0)" }
            ?? facts.unansweredSince.map { "no worker answers since \($0)" }
    }

    private static func clock(_ difference: Int64) -> String {
        let length = Outage.text(.microseconds(Int64(clamping: difference.magnitude)))
        return "this clock is \(length) \(difference > 0 ? "ahead of" : "behind") the records of the token topic"
    }

    private static func problem(of keys: FetchedKeys.Condition) -> String? {
        if keys.isUsable { return nil }
        if keys.lacksKeys { return "the session issuer publishes no usable key" }
        return keys.age == nil
            ? "the session issuer's keys were never read"
            : "the session issuer's keys are too old to check sessions with"
    }

    static func == (left: Readiness, right: Readiness) -> Bool {
        left.dependencies.elementsEqual(right.dependencies) { $0 == $1 }
    }
}
