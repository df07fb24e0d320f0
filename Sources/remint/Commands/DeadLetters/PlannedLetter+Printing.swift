import AdapterKit
import Operations
import Pipeline

extension PlannedLetter {
    /// Returns a function that prints each letter in a line: when it died, its app, code, origin, and the topic it would go to.
    static func printer(json: Bool) -> PlannedLetterDisplay {
        { letter in Terminal.print(json ? letter.json : letter.line) }
    }

    private var line: String {
        let end =
            switch target {
            case .success(let topic): "would go to \(topic)"
            case .failure(let refused): "stays: \(refused.reason)"
            }
        let parts = [
            entry.failedAt?.description, entry.app?.printable(limit: 40), entry.code?.rawValue,
            entry.origin.map { $0.text.printable() },
        ]
        return (parts.map { $0 ?? "-" } + [end]).joined(separator: "  ")
    }

    private var json: String {
        var json = JSONWriter()
        json.beginObject()
        func member(_ name: String, _ text: String?) { if let text { json.member(name, text) } }
        member("failed_at", entry.failedAt?.description)
        member("app", entry.app)
        member("event_id", entry.eventID)
        member("code", entry.code?.rawValue)
        member("origin", entry.origin?.text)
        switch target {
        case .success(let topic): member("would_go_to", topic)
        case .failure(let refused): member("stays", refused.reason.description)
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
