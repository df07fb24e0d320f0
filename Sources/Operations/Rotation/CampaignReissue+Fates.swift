import AdapterKit
import Keyring
import Pipeline
import WorkerConfiguration

/// The outcomes of a campaign's events that did not become tokens.
extension CampaignReissue {
    /// Returns why users of `rotation` still hold a token of the old version, as counts.
    func fates(_ rotation: Rotation) async throws -> String {
        var tally = EventFates(prefix: "\(rotation.id).")
        let configuration = ring.configuration
        let decoder = configuration.deadLetterDecoder
        for topic in configuration.retryTopics + [configuration.topics.deadLetters] {
            let starts = rotation.start?.ends[topic]
            let reader = try await TopicReader(topic, from: starts, configuration, brokers: brokers, logger: logger)
            try await reader.readAll { record, _, _ in
                let letter = DeadLetterEntry(InputRecord(deadLetter: record), decoder: decoder, at: ring.now())
                if topic == configuration.topics.deadLetters {
                    tally.add(letter.eventID, "dead-lettered (\(letter.code?.rawValue ?? "unknown"))")
                } else {
                    let reason = letter.history.split(separator: " ").last.map(String.init) ?? "unknown"
                    tally.add(letter.eventID, "deferred (\(reason))")
                }
            }
        }
        let waiting = await lag().map { $0 > 0 ? "\($0) events of the bulk lane wait for a worker" : "" } ?? ""
        let parts = [tally.counts, waiting].filter { !$0.isEmpty }
        return
            (parts.isEmpty
            ? "no event of the campaign waits or failed, so workers answered with another version"
            : parts.joined(separator: ", "))
            + (try await heldApps())
    }
}

/// The last outcome of each of a campaign's events that failed, as a value.
struct EventFates {
    private let prefix: String
    private var fates: [String: String] = [:]

    init(prefix: String) { self.prefix = prefix }

    mutating func add(_ eventID: String?, _ fate: String) {
        if let eventID, eventID.hasPrefix(prefix) { fates[eventID] = fate }
    }

    /// The number of each, the most first.
    var counts: String {
        Dictionary(grouping: fates.values) { $0 }.map { ($0.value.count, $0.key) }
            .sorted { ($1.0, $0.1) < ($0.0, $1.1) }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
