import AdapterKit

/// A token of a batch that lacks only its signature, with all values that its record contains. A class, because many
/// functions pass it on.
final class Draft: Sendable {
    /// The event's place in the batch.
    let index: Int
    let request: MintRequest
    /// The entry that `Admission` remembers after the token is published.
    let ticket: Admission.Ticket
    /// The key that signs the token.
    let key: SigningKeyReference
    /// The bytes to sign.
    let input: SigningInput
    let life: Validity
    /// The parts of the token's record that it shares with other records.
    let frame: TokenFrame
    let version: Int64

    init(
        _ index: Int, _ request: MintRequest, _ ticket: Admission.Ticket, key: SigningKeyReference,
        input: SigningInput, valid life: Validity, frame: TokenFrame, version: Int64
    ) {
        self.index = index
        self.request = request
        self.ticket = ticket
        self.key = key
        self.input = input
        self.life = life
        self.frame = frame
        self.version = version
    }

    /// The request to the signer.
    var signingRequest: SigningRequest { SigningRequest(key: key, input: input) }

    /// Returns the record that publishes the token with `signature`, and the first bytes of the token's hash. Seals the
    /// token if the app has a seal. The hash is of the clear token, because devices report the clear token.
    ///
    /// - Parameter reportedAt: the time of the first report that the token answers; nil if it answers none.
    /// - Returns: a `Rejection` with `.mintFailed` if there is no signature, if the hash cannot be computed, or if the
    ///   token cannot be sealed.
    func signed(
        _ signature: [UInt8], reportedAt: UnixTime?, _ hasher: SHA256Hasher?
    ) -> Result<(hash: UInt64, record: OutputRecord), Rejection> {
        if signature.isEmpty { return .failure(Rejection(.mintFailed, "the signer gave an empty signature")) }
        if let seal = request.app.seal { return sealed(signature, seal, reportedAt, hasher) }
        let (record, place) = output(signature: signature, reportedAt)
        guard let hash = hasher?.prefix(of: record.body.bytes, in: place) else { return .failure(Self.noHash) }
        return .success((hash, record))
    }

    private func sealed(
        _ signature: [UInt8], _ seal: TokenSeal, _ reportedAt: UnixTime?, _ hasher: SHA256Hasher?
    ) -> Result<(hash: UInt64, record: OutputRecord), Rejection> {
        let clear = input.token(signature: signature)
        guard let hash = hasher?.prefix(of: clear, in: clear.indices) else { return .failure(Self.noHash) }
        do throws(JOSEError) {
            return .success((hash, output(sealed: try seal.seal(clear), by: seal, reportedAt)))
        } catch {
            return .failure(Rejection(.mintFailed, "the token could not be sealed: \(error.message)"))
        }
    }

    private static let noHash = Rejection(.mintFailed, "libcrypto could not hash the token")
}

// MARK: The record

extension Draft {
    /// Returns the record that publishes the token with `signature`: a JSON value, CloudEvents attributes in binary
    /// mode, and the headers that the ledger needs. `PublishedToken` reads it.
    ///
    /// - Returns: the record, and the token's place in its bytes.
    private func output(signature: [UInt8], _ reportedAt: UnixTime?) -> (record: OutputRecord, token: Range<Int>) {
        var place = 0..<0
        var digits = Digits()
        let body = RecordBody(key: request.subjectKey, hasValue: true, estimate: size(token: signature.count)) {
            bytes in
            digits = headers(sealedBy: nil, reportedAt, to: &bytes)
        } value: { json in
            beginValue(&json)
            let start = json.count
            input.writeToken(signature: signature, to: &json)
            place = start..<json.count
            endValue(&json, digits)
        }
        return (OutputRecord(destination: .tokens, body: body), place)
    }

    /// Returns the record that publishes the token as the JWE `sealed`, sealed by `seal`. It differs from the clear
    /// record in the token and in the recipient's key id.
    private func output(sealed: [UInt8], by seal: TokenSeal, _ reportedAt: UnixTime?) -> OutputRecord {
        var digits = Digits()
        let body = RecordBody(key: request.subjectKey, hasValue: true, estimate: size(token: sealed.count)) { bytes in
            digits = headers(sealedBy: seal, reportedAt, to: &bytes)
        } value: { json in
            beginValue(&json)
            json.append(sealed)
            json.append(#"","sealed_for":""#)
            json.append(escaping: seal.keyID)
            endValue(&json, digits)
        }
        return OutputRecord(destination: .tokens, body: body)
    }

    /// Returns an estimate of the record's size in bytes, rather too high than too low.
    private func size(token signature: Int) -> Int {
        let frames = TokenFrame.specVersion.count + frame.source.count + frame.key.count + frame.value.count
        let names =
            4 * request.subjectKey.count + 2 * request.event.envelope.id.utf8.count + request.app.valueStart.count
        return 360 + frames + names + input.bytes.count + signature * 4 / 3
    }

    /// Writes the value up to the first byte of the token.
    private func beginValue(_ json: inout ByteWriter) {
        json.append(request.app.valueStart)
        request.subject.write(to: &json)
        json.append(#","token":""#)
    }

    /// The places of numbers in the headers that the value repeats.
    private struct Digits {
        var expiresAt = 0..<0
        var version = 0..<0
    }

    /// Writes the rest of the value, from the quotation mark that closes the preceding string.
    private func endValue(_ json: inout ByteWriter, _ digits: Digits) {
        json.append(frame.value)
        json.append(again: digits.expiresAt)
        json.append(#","version":"#)
        json.append(again: digits.version)
        json.append(#","event_id":"#)
        json.append(quoting: request.event.envelope.id)
        if let device = request.event.envelope.device {
            json.append(#","device":"#)
            json.append(quoting: device)
        }
        if let challenge = request.subject.challenge {
            json.append(#","challenge":"#)
            json.append(quoting: challenge)
        }
        json.append("}")
    }

    private func headers(
        sealedBy seal: TokenSeal?, _ reportedAt: UnixTime?, to bytes: inout ByteWriter
    ) -> Digits {
        var digits = Digits()
        bytes.append(TokenFrame.specVersion)
        bytes.append(header: "ce_id") { $0.append(request.event.envelope.id.utf8.span) }
        bytes.append(frame.source)
        bytes.append(header: "ce_subject") { $0.append(request.subjectKey) }
        bytes.append(frame.key)
        digits.expiresAt = bytes.append(header: "remint-expires-at", decimal: life.expiresAt)
        if let reportedAt { bytes.append(header: "remint-reported-at", decimal: reportedAt.milliseconds) }
        digits.version = bytes.append(header: "remint-version", decimal: version)
        if let seal { bytes.append(header: "remint-seal") { $0.append(seal.keyID.utf8.span) } }
        if case .centrifugo = request.app.publication {
            CentrifugoHeaders.append(
                for: request.subjectKey, isChallenged: request.subject.challenge != nil, version: version, to: &bytes)
        }
        for header in request.event.envelope.traceHeaders { bytes.append(header: header) }
        return digits
    }
}
