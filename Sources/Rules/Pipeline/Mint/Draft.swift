import AdapterKit
import Records

/// A token of a batch that lacks only its signature, with all values that its record contains. A class, because many
/// functions pass it on.
final class Draft: Sendable {
    /// The event's place in the batch.
    let index: Int
    let request: MintRequest
    /// The entry that `Admission` remembers after the token is published.
    let ticket: Admission.Ticket
    let key: SigningKeyReference
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

    // MARK: The record

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

/// The shared parts of the records of tokens that one key signs for one app within one second. There may be hundreds in
/// a second, and each record would format these parts again.
final class TokenFrame: Sendable {
    let seconds: Int64
    /// The headers from `ce_source` to `ce_type`.
    let source: [UInt8]
    /// The headers from `ce_time` to `remint-key-ring`.
    let key: [UInt8]
    /// The value from the end of the token up to its expiry time.
    let value: [UInt8]

    static let specVersion = ByteWriter.bytes { $0.append(header: "ce_specversion") { $0.append("1.0") } }

    /// Creates the frame for tokens of `app` that `key` signs at `seconds`; `text` is that second in the form of RFC
    /// 3339.
    init(_ app: App, _ key: SigningKeyReference, issuedAt seconds: Int64, _ text: [UInt8]) {
        self.seconds = seconds
        source = ByteWriter.bytes { bytes in
            bytes.append(header: "ce_source") { $0.append(app.eventSource) }
            bytes.append(header: "ce_type") { $0.append("remint.token.replaced.v1") }
        }
        self.key = ByteWriter.bytes { bytes in
            bytes.append(header: "ce_time") { $0.append(text) }
            bytes.append(header: "content-type") { $0.append("application/json") }
            bytes.append(header: "remint-key-id") { $0.append(key.version.utf8.span) }
            bytes.append(header: "remint-key-ring") { $0.append(key.ring.utf8.span) }
        }
        value = ByteWriter.bytes { json in
            json.append(#"","algorithm":"#)
            json.append(quoting: key.algorithm.rawValue)
            json.append(#","key_id":"#)
            json.append(quoting: key.version)
            json.append(#","issued_at":"#)
            json.append(decimal: seconds)
            json.append(#","expires_at":"#)
        }
    }
}

/// The headers that make Centrifugo's Kafka consumer publish a token's record to the channel of its user only.
///
/// The channel is the subject key in another notation: `remint:<app>#<user>`, with several ids joined by `;`. Its parts
/// are percent-encoded like the key's. A comma in the header would separate two channels, and one after the `#` two
/// users.
private enum CentrifugoHeaders {
    /// The maximum length of a channel in Centrifugo's default configuration, in characters.
    static let longestChannel = 255
    private static let namespace: StaticString = "remint:"

    /// Appends the headers of the token with the subject key `key`. Appends none if the channel is longer than
    /// Centrifugo allows, because Centrifugo would refuse the record.
    ///
    /// - Parameter isChallenged: whether the token answers a challenge. The challenge is the last part of the key and
    ///   not part of the channel. Versions do not grow across challenges, and Centrifugo drops records that are not
    ///   newer.
    static func append(
        for key: [UInt8], isChallenged: Bool, version: Int64, to bytes: inout ByteWriter
    ) {
        let slash = UInt8(ascii: "/")
        let end = isChallenged ? key.lastIndex(of: slash) ?? key.count : key.count
        guard namespace.utf8CodeUnitCount + end <= longestChannel else { return }
        bytes.append(header: "x-centrifugo-channels") { channel in
            channel.append(namespace)
            var start = 0
            while let next = key[start..<end].firstIndex(of: slash) {
                channel.append(key, from: start, to: next)
                channel.append(start == 0 ? UInt8(ascii: "#") : UInt8(ascii: ";"))
                start = next + 1
            }
            channel.append(key, from: start, to: end)
        }
        bytes.append(header: "x-centrifugo-idempotency-key") { $0.append(decimal: version) }
        if !isChallenged { bytes.append(header: "x-centrifugo-version") { $0.append(decimal: version) } }
    }
}

/// Signs the drafts of a batch, chunk by chunk, while the worker begins the next events. Builds the records that
/// publish them, on one thread per processor.
struct BatchSigner: Sendable {
    /// The maximum number of events that are read together, and signed together by a signer that accepts concurrent
    /// calls.
    private static let chunk = 400

    fileprivate static let noAnswer = Rejection(.mintFailed, "the signer gave no answer")

    let signing: any SigningPort
    /// The number of parts into which the last step of a chunk is split.
    let cores: Int

    /// Returns the chunks of a batch of `count` events.
    static func chunks(of count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: chunk).map { $0..<min($0 + chunk, count) }
    }

    /// Signs `drafts` and returns their records. Each record depends on its own signature only.
    ///
    /// - Parameter reports: the time of the first report that each draft answers; nil if it answers none.
    func sign(_ drafts: [Draft], answering reports: [UnixTime?], _ urgency: SigningUrgency) async -> SignedDrafts {
        let signatures = await signing.sign(drafts.map(\.signingRequest), urgency: urgency)
        return await SignedDrafts(drafts.count, chunks: cores, with: { try? SHA256Hasher() }) { place, hasher in
            guard place < signatures.count else { return .failure(Self.noAnswer) }
            switch signatures[place] {
            case .success(let signature): return drafts[place].signed(signature, reportedAt: reports[place], hasher)
            case .failure(let rejection): return .failure(rejection)
            }
        }
    }
}

/// The record of each signed draft, with the first bytes of its token's hash.
typealias SignedDrafts = ParallelMap<Result<(hash: UInt64, record: OutputRecord), Rejection>>

/// Drafts that were signed together, from place `first` on.
struct SignedChunk: Sendable {
    let first: Int
    let drafts: SignedDrafts
}

/// A batch's signed drafts by their places.
struct SignedBatch: Sendable {
    private let chunks: [SignedChunk]

    init(_ chunks: [SignedChunk]) { self.chunks = chunks.sorted { $0.first > $1.first } }

    subscript(place: Int) -> Result<(hash: UInt64, record: OutputRecord), Rejection> {
        for chunk in chunks where chunk.first <= place { return chunk.drafts[place - chunk.first] }
        return .failure(BatchSigner.noAnswer)
    }

    /// Returns the reason that the draft at `place` was not signed; nil if it was signed.
    func failure(_ place: Int) -> Rejection? {
        if case .failure(let rejection) = self[place] { rejection } else { nil }
    }
}
