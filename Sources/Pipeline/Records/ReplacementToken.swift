import AdapterKit

/// A token for the mailbox, with all a device or a ledger asks of it.
struct ReplacementToken: Sendable {
    let event: Event
    let source: [UInt8]
    let vendor: String
    let subject: Subject
    var token: [UInt8]
    let algorithm: Algorithm
    let keyID: String
    let issuedAt: Int64
    /// The same in the form of RFC 3339.
    let issuedAtText: [UInt8]
    let expiresAt: Int64
    let version: Int64

    /// The record: a JSON value, CloudEvents attributes in binary mode, and headers that are enough for the ledger.
    var output: OutputRecord {
        let key = subject.key(app: event.app)
        return OutputRecord(destination: .tokens, key: key, value: value, headers: headers(key: key))
    }

    private var value: [UInt8] {
        ByteWriter.bytes { json in
            json.append(#"{"app":"#)
            json.append(quoting: event.app)
            json.append(#","vendor":"#)
            json.append(quoting: vendor)
            json.append(#","subject":"#)
            subject.write(to: &json)
            json.append(#","token":""#)
            json.append(token)
            json.append(#"","algorithm":"#)
            json.append(quoting: algorithm.rawValue)
            json.append(#","key_id":"#)
            json.append(quoting: keyID)
            json.append(#","issued_at":"#)
            json.append(decimal: issuedAt)
            json.append(#","expires_at":"#)
            json.append(decimal: expiresAt)
            json.append(#","version":"#)
            json.append(decimal: version)
            json.append(#","event_id":"#)
            json.append(quoting: event.id)
            if let device = event.device {
                json.append(#","device":"#)
                json.append(quoting: device)
            }
            if let challenge = subject.challenge {
                json.append(#","challenge":"#)
                json.append(quoting: challenge)
            }
            json.append("}")
        }
    }

    private func headers(key: [UInt8]) -> [Header] {
        var headers = Self.constants
        headers.reserveCapacity(10 + event.traceHeaders.count)
        headers.append(Header("ce_id", event.id))
        headers.append(Header("ce_source", source))
        headers.append(Header("ce_subject", key))
        headers.append(Header("ce_time", issuedAtText))
        headers.append(Header("remint-key-id", keyID))
        headers.append(Header("remint-expires-at", ByteWriter.bytes { $0.append(decimal: expiresAt) }))
        headers.append(Header("remint-version", ByteWriter.bytes { $0.append(decimal: version) }))
        headers += event.traceHeaders
        return headers
    }

    /// What every token's record says.
    private static let constants = [
        Header("ce_specversion", "1.0"), Header("ce_type", "remint.token.replaced.v1"),
        Header("content-type", "application/json"),
    ]
}
