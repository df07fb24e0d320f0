import AdapterKit

/// A token that lacks its signature alone, with all that the token topic, a device or a ledger asks of it. By reference, for it
/// goes through many hands.
final class UnsignedToken: Sendable {
    let order: MintRequest
    /// The key that signs it.
    let key: SigningKeyReference
    /// What is signed.
    let input: SigningInput
    let life: Validity
    /// When it is issued, in the form of RFC 3339.
    let issuedAtText: [UInt8]
    let version: Int64

    init(
        _ order: MintRequest, _ key: SigningKeyReference, _ input: SigningInput, valid life: Validity,
        issuedAtText: [UInt8], version: Int64
    ) {
        self.order = order
        self.key = key
        self.input = input
        self.life = life
        self.issuedAtText = issuedAtText
        self.version = version
    }

    /// What its signer is asked for.
    var request: SigningRequest { SigningRequest(key: key, input: input) }

    /// The record that publishes it with `signature`: a JSON value, CloudEvents attributes in binary mode, and headers that are
    /// enough for the ledger. `PublishedToken` reads it.
    ///
    /// - Parameter reportedAt: when the first report that it answers was made; nil for none.
    /// - Returns: the record, and where in its bytes the token stands.
    func output(signature: [UInt8], reportedAt: UnixTime?) -> (record: OutputRecord, token: Range<Int>) {
        var place = 0..<0
        let body = RecordBody(key: order.subjectKey, hasValue: true) { bytes in
            headers(sealedBy: nil, reportedAt, to: &bytes)
        } value: { json in
            beginValue(&json)
            let start = json.count
            input.writeToken(signature: signature, to: &json)
            place = start..<json.count
            endValue(&json)
        }
        return (OutputRecord(destination: .tokens, body: body), place)
    }

    /// The record that publishes it sealed by `seal`, as the JWE `sealed`: the same but for the token itself and whom it is
    /// sealed for.
    func output(sealed: [UInt8], by seal: TokenSeal, reportedAt: UnixTime?) -> OutputRecord {
        let body = RecordBody(key: order.subjectKey, hasValue: true) { bytes in
            headers(sealedBy: seal, reportedAt, to: &bytes)
        } value: { json in
            beginValue(&json)
            json.append(sealed)
            json.append(#"","sealed_for":""#)
            json.append(escaping: seal.keyID)
            endValue(&json)
        }
        return OutputRecord(destination: .tokens, body: body)
    }

    /// The value up to the first byte of the token.
    private func beginValue(_ json: inout ByteWriter) {
        json.append(order.app.valueStart)
        order.subject.write(to: &json)
        json.append(#","token":""#)
    }

    /// The value from the quotation mark that closes the text before it.
    private func endValue(_ json: inout ByteWriter) {
        json.append(#"","algorithm":"#)
        json.append(quoting: key.algorithm.rawValue)
        json.append(#","key_id":"#)
        json.append(quoting: key.version)
        json.append(#","issued_at":"#)
        json.append(decimal: life.issuedAt)
        json.append(#","expires_at":"#)
        json.append(decimal: life.expiresAt)
        json.append(#","version":"#)
        json.append(decimal: version)
        json.append(#","event_id":"#)
        json.append(quoting: order.event.id)
        if let device = order.event.device {
            json.append(#","device":"#)
            json.append(quoting: device)
        }
        if let challenge = order.subject.challenge {
            json.append(#","challenge":"#)
            json.append(quoting: challenge)
        }
        json.append("}")
    }

    private func headers(sealedBy seal: TokenSeal?, _ reportedAt: UnixTime?, to bytes: inout ByteWriter) {
        bytes.append(header: "ce_specversion") { $0.append("1.0") }
        bytes.append(header: "ce_id") { $0.append(order.event.id.utf8.span) }
        bytes.append(header: "ce_source") { $0.append(order.app.eventSource) }
        bytes.append(header: "ce_type") { $0.append("remint.token.replaced.v1") }
        bytes.append(header: "ce_subject") { $0.append(order.subjectKey) }
        bytes.append(header: "ce_time") { $0.append(issuedAtText) }
        bytes.append(header: "content-type") { $0.append("application/json") }
        bytes.append(header: "remint-key-id") { $0.append(key.version.utf8.span) }
        bytes.append(header: "remint-key-ring") { $0.append(key.ring.utf8.span) }
        bytes.append(header: "remint-expires-at") { $0.append(decimal: life.expiresAt) }
        if let reportedAt { bytes.append(header: "remint-reported-at") { $0.append(decimal: reportedAt.milliseconds) } }
        bytes.append(header: "remint-version") { $0.append(decimal: version) }
        if let seal { bytes.append(header: "remint-seal") { $0.append(seal.keyID.utf8.span) } }
        if case .centrifugo = order.app.publication {
            CentrifugoHeaders.append(
                for: order.subjectKey, isChallenged: order.subject.challenge != nil, version: version, to: &bytes)
        }
        for header in order.event.traceHeaders { bytes.append(header: header) }
    }
}
