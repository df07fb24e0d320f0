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
        [
            Self.specversion,
            Header("ce_id", event.id),
            Header("ce_source", source),
            Self.type,
            Header("ce_subject", key),
            Header("ce_time", issuedAtText),
            Self.contentType,
            Header("remint-key-id", keyID),
            Header("remint-expires-at", ByteWriter.bytes { $0.append(decimal: expiresAt) }),
            Header("remint-version", ByteWriter.bytes { $0.append(decimal: version) }),
        ] + event.traceHeaders
    }

    // What every token's record says.
    private static let specversion = Header("ce_specversion", "1.0")
    private static let type = Header("ce_type", "remint.token.replaced.v1")
    private static let contentType = Header("content-type", "application/json")
}
