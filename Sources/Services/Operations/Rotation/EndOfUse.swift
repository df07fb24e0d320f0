import AdapterKit
package import Keyring
import Logging
import WorkerConfiguration

/// The topics with the events that workers answer with tokens.
package protocol EventTopics {
    /// Returns the events that are on the topics of the live and the bulk lane now.
    func events() async throws -> EventsBefore
    /// Returns the number of `events` that have no outcome yet.
    func unanswered(_ events: EventsBefore) async throws -> Int
}

/// The wait until no worker can add a token of a version that does not sign any more: every worker has loaded the ring, and every
/// event that one may have taken before has its outcome. What the ledger shows afterwards is final.
package struct EndOfUse {
    /// The time in which every worker loads a changed ring: workers read their rings once a second.
    package static let loading = Duration.seconds(3)

    let ring: RingInUse
    let topics: any EventTopics
    let loading: Duration
    /// The longest time for which the number of events without an outcome may stay the same.
    let maxWait: Duration
    let rest: (Duration) async throws -> Void

    /// The end of versions of `ring`.
    ///
    /// - Parameters:
    ///   - loading: the time in which every worker loads a changed ring.
    ///   - maxWait: the longest time for which the number of events without an outcome may stay the same.
    ///   - rest: waits for a time.
    init(
        of ring: RingInUse, on topics: any EventTopics, loading: Duration = Self.loading,
        maxWait: Duration = TopicReader.standardMaxWait,
        rest: @escaping (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.ring = ring
        self.topics = topics
        self.loading = loading
        self.maxWait = maxWait
        self.rest = rest
    }

    init(of ring: RingInUse, brokers: String, logger: Logger) {
        self.init(of: ring, on: KafkaEventTopics(configuration: ring.configuration, brokers: brokers, logger: logger))
    }

    /// Returns the time to wait until every worker has loaded a ring that changed at `change`; nil for an unknown time.
    static func rest(since change: UnixTime?, at now: UnixTime, _ loading: Duration) -> Duration {
        guard let change else { return loading }
        let age = Duration.microseconds(now.microseconds(since: change))
        // The time of the change may be from another operator's clock: a wrong one must not shorten the rest.
        return age < loading + .seconds(ClockTolerance.standard.seconds) ? loading : .zero
    }

    /// Waits for the end of `versions`.
    ///
    /// - Returns: the events that may still become tokens of one of them; nil for none.
    /// - Throws: `KeyRingError`, or the error that keeps brokers from being asked.
    func wait(for versions: [String], _ display: any ProgressDisplay) async throws -> PendingEvents? {
        let listing = try ring.directory.readListing()
        // A prepared version never signed.
        guard versions.contains(where: { listing.state(of: $0) != .prepared }) else { return nil }
        let time = Self.rest(since: listing.active?.activated, at: ring.now(), loading)
        if time > .zero { try await rest(time) }
        // Workers that make progress know the ring by now; a worker that stands still may hold one of these events.
        let events = try await topics.events()
        guard events.unseen.isEmpty else { return PendingEvents(count: 0, unseen: events.unseen) }
        let count = try await lowest(of: events, display)
        return count > 0 ? PendingEvents(count: count) : nil
    }

    /// Asks for the number of `events` without an outcome until it is 0, or until it stops falling for too long.
    private func lowest(of events: EventsBefore, _ display: any ProgressDisplay) async throws -> Int {
        var display = display
        defer { display.clear() }
        var least = Int.max
        var deadline = ContinuousClock.now
        while true {
            let count = try await topics.unanswered(events)
            guard count > 0 else { return 0 }
            if count < least {
                least = count
                deadline = .now + maxWait
            }
            guard .now < deadline else { return count }
            display.show(0, of: count, count.of("event has no outcome yet", "events have no outcome yet"))
            try await rest(.milliseconds(250))
        }
    }
}

/// Events that a worker may still answer with a version that does not sign any more.
struct PendingEvents: Sendable, Equatable {
    /// The number of events without an outcome.
    let count: Int
    /// The topics that brokers do not show, so that the number of their events is unknown.
    var unseen: [String] = []

    /// The fact, and the way on, about tokens of `version`.
    func clause(_ version: String) -> String {
        guard unseen.isEmpty else {
            let names = unseen.joined(separator: ", ")
            return
                "whether events from before wait is unknown, for brokers do not show \(names): create it (\(RemintCommand("topics create"))) or allow this account DESCRIBE and READ on it"
        }
        let events = count.of(
            "event from before has no outcome yet, or lies", "events from before have no outcome yet, or lie")
        return
            "\(events) behind an open transaction: a worker that took one and stands still may answer it with \(version); see that the workers run (\(RemintCommand("status")))"
    }
}

/// The ledger, read once no worker should be able to add a token of some versions to it.
package struct FinalReading {
    /// The tokens of the versions.
    package let holdings: CampaignHoldings
    /// The events that may still become tokens of one of them; nil for none.
    let pending: PendingEvents?

    private var version: String { holdings.first.version }

    /// The end of a sentence about the tokens that are left: the events that may become others; empty for none.
    package var events: String { pending.map { ", but \($0.clause(version))" } ?? "" }

    /// Whether no user can hold, or get, a token of the versions, which are revoked.
    package var isOver: Bool {
        pending == nil && holdings.live == 0 && holdings.unreadable == 0 && holdings.hidden == nil
    }

    /// Returns the sentence for the tokens that are left, with the command `next`, which gives their users new ones.
    package func sentence(next: RemintCommand) -> String {
        guard !isOver else { return "the ledger shows 0 live tokens of \(version)" }
        let reasons = holdings.reasons.isEmpty ? "" : " (\(holdings.reasons))"
        return "\(holdings.left)\(reasons)\(events); give their users new ones with: \(next)"
    }
}

/// A version that workers may still add tokens of to the ledger.
package struct UseNotOver: Error, CustomStringConvertible {
    package let description: String

    init(_ version: String, _ pending: PendingEvents, next: RemintCommand) {
        description =
            "\(version) cannot be retired or removed: the ledger shows no live token of it, but \(pending.clause(version)), then: \(next). Or use --force"
    }
}

/// The events on a cluster.
private struct KafkaEventTopics: EventTopics {
    let configuration: Configuration
    let brokers: String
    let logger: Logger

    func events() async throws -> EventsBefore {
        try await EventsBefore(configuration, brokers: brokers, logger: logger)
    }

    func unanswered(_ events: EventsBefore) async throws -> Int {
        try await events.unanswered(configuration, brokers: brokers, logger: logger)
    }
}
