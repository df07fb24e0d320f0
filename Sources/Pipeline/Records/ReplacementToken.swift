import AdapterKit

/// A token for the mailbox, with all a device or a ledger asks of it.
struct ReplacementToken: Sendable {
    let event: Event
    let app: App
    let subject: Subject
    /// The mailbox key.
    let key: [UInt8]
    let algorithm: Algorithm
    let keyID: String
    let life: TokenLife
    /// When it is issued, in the form of RFC 3339.
    let issuedAtText: [UInt8]
    let version: Int64

    /// The record that publishes the token which `input` and `signature` make: a JSON value, CloudEvents attributes in binary
    /// mode, and headers that are enough for the ledger.
    ///
    /// - Returns: the record, and where in its bytes the token stands.
    func output(of input: SigningInput, signature: [UInt8]) -> (record: OutputRecord, token: Range<Int>) {
        var place = 0..<0
        let contents = RecordContents(key: key, hasValue: true) { bytes in
            headers(to: &bytes)
        } value: { json in
            place = value(of: input, signature, to: &json)
        }
        return (OutputRecord(destination: .tokens, contents: contents), place)
    }

    /// - Returns: where the token stands.
    private func value(of input: SigningInput, _ signature: [UInt8], to json: inout ByteWriter) -> Range<Int> {
        json.append(app.valueStart)
        subject.write(to: &json)
        json.append(#","token":""#)
        let start = json.count
        input.writeToken(signature: signature, to: &json)
        let token = start..<json.count
        json.append(#"","algorithm":"#)
        json.append(quoting: algorithm.rawValue)
        json.append(#","key_id":"#)
        json.append(quoting: keyID)
        json.append(#","issued_at":"#)
        json.append(decimal: life.issuedAt)
        json.append(#","expires_at":"#)
        json.append(decimal: life.expiresAt)
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
        return token
    }

    private func headers(to bytes: inout ByteWriter) {
        bytes.append(header: "ce_specversion") { $0.append("1.0") }
        bytes.append(header: "ce_id") { $0.append(event.id.utf8.span) }
        bytes.append(header: "ce_source") { $0.append(app.eventSource) }
        bytes.append(header: "ce_type") { $0.append("remint.token.replaced.v1") }
        bytes.append(header: "ce_subject") { $0.append(key) }
        bytes.append(header: "ce_time") { $0.append(issuedAtText) }
        bytes.append(header: "content-type") { $0.append("application/json") }
        bytes.append(header: "remint-key-id") { $0.append(keyID.utf8.span) }
        bytes.append(header: "remint-expires-at") { $0.append(decimal: life.expiresAt) }
        bytes.append(header: "remint-version") { $0.append(decimal: version) }
        for header in event.traceHeaders { bytes.append(header: header) }
    }
}
