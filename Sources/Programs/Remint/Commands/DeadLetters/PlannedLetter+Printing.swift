import AdapterKit
import Operations
import Pipeline

extension PlannedLetter {
    /// Returns a function that prints each letter in a line: its place, when it died, its app, code, origin, and the topic it would go to.
    static func printer(json: Bool) -> PlannedLetterDisplay {
        { letter in Terminal.print(json ? letter.json : letter.line) }
    }

    private var line: String {
        let end =
            switch target {
            case .success(let topic): "would go to \(topic)"
            case .failure(let refused): "stays: \(refused.reason)"
            }
        let shown = entry.shown
        return [entry.place.text, shown.failedAt, shown.app, shown.code, shown.origin, end].joined(separator: "  ")
    }

    private var json: String {
        var json = JSONWriter()
        json.beginObject()
        entry.writeNames(to: &json)
        json.memberIfAny("origin", entry.origin?.text)
        switch target {
        case .success(let topic): json.member("would_go_to", topic)
        case .failure(let refused): json.member("stays", refused.reason.description)
        }
        json.endObject()
        return json.printable
    }
}
