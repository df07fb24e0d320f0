import AdapterKit

/// A token for the mailbox, with all a device or a ledger asks of it.
struct ReplacementToken: Sendable {
    var event: Event
    var vendor: String
    var subject: Subject
    var token: [UInt8]
    var algorithm: Algorithm
    var keyID: String
    var issuedAt: Int64
    var expiresAt: Int64
    var version: Int64

    /// The record: a JSON value, CloudEvents attributes in binary mode, and headers that are enough for the ledger.
    var output: OutputRecord {
        let key = subject.key(app: event.app)
        return OutputRecord(destination: .tokens, key: key, value: value, headers: headers(key: key))
    }

    private var value: [UInt8] {
        var json = JSONWriter(capacity: token.count + 320)
        json.beginObject()
        json.member("app", event.app)
        json.member("vendor", vendor)
        json.name("subject")
        subject.write(to: &json)
        json.name("token")
        json.unescapedString(token)
        json.member("algorithm", algorithm.rawValue)
        json.member("key_id", keyID)
        json.member("issued_at", issuedAt)
        json.member("expires_at", expiresAt)
        json.member("version", version)
        json.member("event_id", event.id)
        if let device = event.device { json.member("device", device) }
        if let challenge = subject.challenge { json.member("challenge", challenge) }
        json.endObject()
        return json.bytes
    }

    private func headers(key: [UInt8]) -> [Header] {
        [
            Header("ce_specversion", "1.0"),
            Header("ce_id", event.id),
            Header("ce_source", "/remint/\(event.app)"),
            Header("ce_type", "remint.token.replaced.v1"),
            Header("ce_subject", key),
            Header("ce_time", UnixTime(seconds: issuedAt).description),
            Header("content-type", "application/json"),
            Header("remint-key-id", keyID),
            Header("remint-expires-at", String(expiresAt)),
            Header("remint-version", String(version)),
        ] + event.traceHeaders
    }
}
