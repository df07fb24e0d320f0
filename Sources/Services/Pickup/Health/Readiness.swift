import Access
import AdapterKit
import Formats
import HTTPTransport
import Pipeline

/// The gateway's readiness to serve devices, and the problems that keep it from that. A value without a clock.
struct Readiness: Sendable, Equatable {
    enum Dependency: String, Sendable, CaseIterable {
        case brokers
        case tokens
        /// The topics of events take the gateway's.
        case events
        case workers
        case lane
        /// The clock agrees with those that date tokens' records.
        case clock
        case connections
        case sessions
        case certificate
        case gateway
    }

    struct Facts: Sendable {
        var isStopping = false
        /// The partitions of the token topic that are followed, and the time since which no broker answers.
        var tail = TailState()
        /// The topic that accepts no events, if none of them does; nil while one does or it is unknown.
        var eventOutage: EventRefusals.Outage?
        /// The moment from which no worker is in the group; nil while one is, or while it is unknown.
        var workersAbsentSince: UnixTime?
        /// The moment from which no worker answers asks; nil where one does or it is unknown.
        var unansweredSince: UnixTime?
        /// True if it is unknown whether workers run: the brokers do not show their group, and no worker has handled an
        /// ask.
        var areWorkersUnknown = false
        /// The pause of the live lane; nil while its events are taken.
        var lanePause: LanePause?
        /// The lead of this clock over the clocks that date tokens' records, in microseconds; nil where they agree or
        /// it is unknown.
        var clockDifference: Int64?
        /// The moment from which new connections find no place; nil while they do.
        var crowdedSince: UnixTime?
        /// The session issuers' keys; empty where only backends call.
        var sessions: [FetchedKeys.Condition] = []
        /// The end of the certificate that devices see; nil for plain text.
        var certificateEnd: UnixTime?
    }

    /// The dependencies, each with its problem; nil where it has none.
    let dependencies: [(dependency: Dependency, problem: String?)]
    /// The dependencies of which nothing is known. They have no problem.
    let unknown: Set<Dependency>

    /// Whether `dependency` counts as there in metrics. One on trial does not, until it is known to be: an alert that is
    /// due must not end for it.
    func isMet(_ dependency: Dependency, _ problem: String?) -> Bool {
        problem == nil && !(dependency == .events && unknown.contains(dependency))
    }

    var isReady: Bool { dependencies.allSatisfy { $0.problem == nil } }

    init(_ facts: Facts, at now: UnixTime) {
        var found: [(Dependency, String?)] = [
            (.brokers, facts.tail.silentSince.map { "no broker answers since \($0)" }),
            (.tokens, Self.tokens(facts.tail)),
            (.events, Self.events(facts)),
            (.workers, Self.workers(facts)),
            (.lane, facts.lanePause.map { "an operator paused the live lane at \($0.since)" }),
            (.clock, facts.clockDifference.map(Self.clock)),
            (.connections, facts.crowdedSince.map { "connections are refused since \($0): all are in use" }),
        ]
        if !facts.sessions.isEmpty { found.append((.sessions, facts.sessions.lazy.compactMap(Self.problem).first)) }
        if let end = facts.certificateEnd {
            found.append((.certificate, end.seconds > now.seconds ? nil : "pickup.tls.certificate expired at \(end)"))
        }
        found.append((.gateway, facts.isStopping ? "the gateway is about to stop" : nil))
        dependencies = found
        var unknown: Set<Dependency> = []
        if facts.areWorkersUnknown, Self.workers(facts) == nil { unknown.insert(.workers) }
        if facts.eventOutage?.isOnTrial == true { unknown.insert(.events) }
        self.unknown = unknown
    }

    private static func tokens(_ tail: TailState) -> String? {
        if tail.isMissing { return "the token topic does not exist or may not be read" }
        guard let behind = tail.behind else { return "the token topic is not followed" }
        switch behind {
        case 0: return tail.followed.isEmpty ? "no partition of the token topic has a leader" : nil
        default: return behind.of("partition is", "partitions are") + " not followed yet"
        }
    }

    private static func events(_ facts: Facts) -> String? {
        guard let outage = facts.eventOutage, !outage.isOnTrial, facts.tail.silentSince == nil else { return nil }
        return "the brokers refuse events on \(outage.topic) since \(outage.since): \(outage.code)"
    }

    private static func workers(_ facts: Facts) -> String? {
        facts.workersAbsentSince.map { "no worker is in the group since \($0)" }
            ?? (facts.lanePause == nil ? facts.unansweredSince : nil).map { "no worker answers since \($0)" }
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
        left.dependencies.elementsEqual(right.dependencies) { $0 == $1 } && left.unknown == right.unknown
    }
}
