/// The last outcome of each of a campaign's events that failed, as a value.
package struct EventFates {
    private let prefix: String
    private var fates: [String: String] = [:]
    private var hidden: [HiddenOffsets] = []

    /// None yet, of the events whose ids begin with `prefix`.
    package init(prefix: String) { self.prefix = prefix }

    /// Takes the fate of an event; the last one of each counts.
    package mutating func add(_ eventID: String?, _ fate: String) {
        if let eventID, eventID.hasPrefix(prefix) { fates[eventID] = fate }
    }

    /// Takes what an open transaction hides of a topic.
    mutating func add(_ hidden: HiddenOffsets) { self.hidden.append(hidden) }

    /// The number of each, the most first, and what is unknown.
    var counts: String {
        let known = Dictionary(grouping: fates.values) { $0 }.map { ($0.value.count, $0.key) }
            .sorted { ($1.0, $0.1) < ($0.0, $1.1) }.map { "\($0.0) \($0.1)" }
        return (known + hidden.map(\.fact)).joined(separator: ", ")
    }
}
