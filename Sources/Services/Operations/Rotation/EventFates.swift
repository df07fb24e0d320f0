package import AdapterKit

/// The last outcome of each of a campaign's events that failed, as a value.
package struct EventFates {
    private let prefix: String
    private var fates: [String: String] = [:]
    private var hidden: [HiddenOffsets] = []

    /// No outcomes yet, of the events whose ids begin with `prefix`.
    package init(prefix: String) { self.prefix = prefix }

    /// Adds the outcome of an event; the last one of each event counts.
    package mutating func add(_ eventID: String?, _ fate: String) {
        if let eventID, eventID.hasPrefix(prefix) { fates[eventID] = fate }
    }

    /// Adds the outcome of an event that was dead-lettered.
    package mutating func add(_ eventID: String?, deadLetteredWith code: ErrorCode?) {
        add(eventID, Self.letter(code))
    }

    private static func letter(_ code: ErrorCode?) -> String { "dead-lettered (\(code?.rawValue ?? "unknown"))" }

    /// The ids of the events whose last outcome is that the vendor does not know their user any more.
    var ofGoneUsers: [String] { fates.filter { $0.value == Self.letter(.userGone) }.map(\.key) }

    /// Adds the offsets that an open transaction hides of a topic.
    mutating func add(_ hidden: HiddenOffsets) { self.hidden.append(hidden) }

    /// Returns the number of the events `ids` with each outcome, the largest first, and the unknown part.
    func counts(of ids: Set<String>) -> String {
        let known = Dictionary(grouping: fates.filter { ids.contains($0.key) }.values) { $0 }.map {
            ($0.value.count, $0.key)
        }
        .sorted { ($1.0, $0.1) < ($0.0, $1.1) }.map { "\($0.0) \($0.1)" }
        return (known + hidden.map(\.fact)).joined(separator: ", ")
    }
}
