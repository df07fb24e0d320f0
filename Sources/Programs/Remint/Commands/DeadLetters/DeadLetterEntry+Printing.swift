import AdapterKit
import Operations
import Pipeline

extension DeadLetterEntry {
    /// The columns of a letter in every listing, safe for a terminal; `-` where a value is unknown.
    var shown: (failedAt: String, app: String, code: String, origin: String) {
        (
            failedAt?.description ?? "-", app?.printable(limit: 40) ?? "-", code?.rawValue ?? "-",
            origin.map { $0.text.printable() } ?? "-"
        )
    }

    /// Writes the members that every listing of letters begins with.
    func writeNames(to json: inout JSONWriter) {
        json.member("letter", place.text)
        json.memberIfAny("failed_at", failedAt?.description)
        json.memberIfAny("app", app)
        json.memberIfAny("event_id", eventID)
        json.memberIfAny("code", code?.rawValue)
    }
}

extension JSONWriter {
    /// Writes the member `name`, where there is a `text`.
    mutating func memberIfAny(_ name: String, _ text: String?) { if let text { member(name, text) } }
}

extension RecordPosition {
    /// `topic/partition/offset`.
    var text: String { "\(topic)/\(partition)/\(offset)" }
}
