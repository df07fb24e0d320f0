import AdapterKit
import Records

/// The end of an event.
struct Ending: Sendable {
    let outcome: String
    /// A dead letter's code, or the reason of a deferral or of a supersession; empty for none.
    let code: String
    let reason: String?
    /// The outcome's detail, in a line without secrets.
    let detail: String?
    /// The topic of the published record; nil where nothing is published.
    let topic: String?
    let key: String?
    let headers: [RecordHeader]
    /// The token; nil where there is none.
    var token: Token?

    /// A token; only its header and claims are ever shown.
    struct Token: Sendable {
        let inspection: TokenInspection
        let subject: Subject
        /// The time from its issue to its end, in seconds.
        let lives: Int64
        let sealedFor: String?
        /// The vendor's verdict on the token.
        let verdict: VendorVerdict
    }

    /// The outcome with its code and detail.
    var summary: String {
        var text = outcome
        if !code.isEmpty { text += ", \(code)" }
        if let detail, !detail.isEmpty { text += ": \(detail)" }
        return text
    }
}
