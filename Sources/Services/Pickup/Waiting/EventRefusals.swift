import AdapterKit

/// The topics that do not take the gateway's events. A value without a clock.
///
/// A topic is out once it is missing. It is out too once a refusal comes ten seconds or more after another one, and the
/// brokers accepted nothing in between. A gateway that is not ready may get no calls, so that no event would end this.
/// Therefore the topic is on trial a minute after its last refusal: the gateway is ready again. The next refusal ends
/// the trial at once; an accepted event ends the outage.
struct EventRefusals: Sendable {
    struct Outage: Sendable, Equatable {
        let topic: String
        let code: String
        /// The first refusal, or the moment from which the topic is missing.
        let since: UnixTime
        /// Whether the next event decides if the outage continues.
        var isOnTrial = false
    }

    /// The refusals of a topic since the brokers accepted an event on it.
    private struct Refusals {
        let first: UnixTime
        var last: UnixTime
        var code: String
        var isOut = false
    }

    /// The time between refusals from which a topic is out, in microseconds: the time that a call waits.
    private static let timeout: Int64 = 10_000_000
    /// The time without refusals from which a topic is on trial, in microseconds.
    private static let rest: Int64 = 60_000_000
    /// The time after which a refusal that had no successor is forgotten, in microseconds.
    private static let memory: Int64 = 600_000_000
    /// The length up to which any topic must take an event, in bytes. A longer one that is refused for its length shows
    /// nothing about other events, and a device chooses the length of its report.
    private static let everyday = 4096

    private var refused: [String: Refusals] = [:]
    private var missing: [String: (code: String, since: UnixTime)] = [:]

    mutating func accepted(_ topic: String) {
        refused[topic] = nil
        missing[topic] = nil
    }

    /// Records that the brokers refused an event of `length` bytes on `topic` with the code `code`.
    ///
    /// - Parameter isForLength: whether the event was refused for its length alone.
    mutating func refused(_ topic: String, code: String, isForLength: Bool, length: Int, at now: UnixTime) {
        if isForLength, length > Self.everyday { return }
        var found = refused[topic] ?? Refusals(first: now, last: now, code: code)
        if !found.isOut, !(0..<Self.memory).contains(now.microseconds(since: found.last)) {
            found = Refusals(first: now, last: now, code: code)
        }
        (found.last, found.code) = (now, code)
        found.isOut = found.isOut || now.microseconds(since: found.first) >= Self.timeout
        refused[topic] = found
    }

    /// Records whether `topic` exists and may be written, as far as its description shows.
    ///
    /// - Parameter problem: the brokers' code; nil where nothing is wrong.
    /// - Returns: whether the topic was missing and is there again.
    mutating func described(_ topic: String, problem: String?, at now: UnixTime) -> Bool {
        if let problem {
            missing[topic] = (problem, missing[topic]?.since ?? now)
            return false
        }
        guard missing.removeValue(forKey: topic) != nil else { return false }
        // The refusals were those of a topic that was not there.
        refused[topic] = nil
        return true
    }

    /// Returns the topics that take no events at `now`, in the order of their names.
    func outages(at now: UnixTime) -> [Outage] {
        let absent = missing.map { Outage(topic: $0, code: $1.code, since: $1.since) }
        let closed = refused.filter { $0.value.isOut && missing[$0.key] == nil }.map { topic, refusals in
            Outage(
                topic: topic, code: refusals.code, since: refusals.first,
                isOnTrial: !(0..<Self.rest).contains(now.microseconds(since: refusals.last)))
        }
        return (absent + closed).sorted { $0.topic < $1.topic }
    }
}
