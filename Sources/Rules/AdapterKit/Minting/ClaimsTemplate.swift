/// A recipe's claims, composed as far as they are the same for all tokens. For a token, only the constant stretches are
/// copied and the places between them filled. The times, which thousands of tokens share, are filled in first.
struct ClaimsTemplate: Sendable {
    /// No piece holds a reference: every token walks through them.
    private enum Piece: Sendable {
        /// A stretch of `constants`.
        case constant(from: Int, to: Int)
        /// A comma, unless an object or an array has just been opened.
        case separator
        case user, userInJSON, userInURL, identifiers, challenge, issuedAt, expiresAt, uuid, date
        /// The names of an object must differ, some of which are put together: its place in `siblings`.
        case distinct(Int)
        /// A place in `moments`.
        case moment(Int)
        /// The value that a look-up or the edge found, else a stretch of `constants`: its place in `enrichments`.
        case granted(Int, otherwise: Int, to: Int)
        /// The value that the edge vouched for, which every token needs: its place in `enrichments`.
        case vouched(Int)
        /// A member that is left out where a look-up found nothing: its place in `enrichments`.
        case enrichment(Int)
        /// The beginning of an element that is left out where nothing was found: its place in `enrichments`.
        case ifFound(Int)
        /// The end of such an element.
        case endOfElement
    }

    /// A member that a look-up may add, with its name as the token has it.
    private struct Addition: Sendable {
        let source: String
        let name: [UInt8]
    }

    private var constants: [UInt8] = []
    private var pieces: [Piece] = []
    private var enrichments: [Addition] = []
    private var moments: [Moment] = []
    private var siblings: [SiblingNames] = []
    /// `kid` of the key that signs; empty where no claim asks for it.
    private var keyID = ""
    /// The claims' names, for the error about a subject that lacks one.
    private var names: [String] = []
    /// The number of bytes of `constants` that are in pieces already.
    private var flushed = 0

    private init() {}

    init(_ claims: [Claim], keyID: String = "") {
        self.keyID = keyID
        object(of: claims)
        flush()
    }

    // MARK: Putting together

    private mutating func object(of claims: [Claim]) {
        append("{")
        if let names = SiblingNames(claims, keyID: keyID) {
            siblings.append(names)
            place(.distinct(siblings.count - 1), named: "")
        }
        var isSureToFollow = false
        for (index, claim) in claims.enumerated() {
            if case .enrichment(let source) = claim.value {
                enrichments.append(Addition(source: source, name: JSONWriter.encoded(name: claim.name)))
                place(.enrichment(enrichments.count - 1), of: claim)
                continue
            }
            if isSureToFollow { append(",") } else if index > 0 { place(.separator, of: claim) }
            if let parts = claim.nameParts {
                text(of: parts, for: claim)
                append(":")
            } else {
                constants += JSONWriter.encoded(name: claim.name)
            }
            value(of: claim)
            isSureToFollow = true
        }
        append("}")
    }

    private mutating func value(of claim: Claim) {
        switch claim.value {
        case .constant(let text):
            var json = JSONWriter()
            json.string(text)
            constants += json.bytes
        case .object(let members): object(of: members)
        case .user: quote(.user, of: claim)
        case .identifiers: place(.identifiers, of: claim)
        case .challenge: quote(.challenge, of: claim)
        case .issuedAt: place(.issuedAt, of: claim)
        case .expiresAt: place(.expiresAt, of: claim)
        case .uuid: quote(.uuid, of: claim)
        case .json(let json): constants += json
        case .keyID: quote(constant: keyID)
        case .moment(let moment): place(moment, of: claim)
        case .text(let parts): text(of: parts, for: claim)
        case .array(let values): array(of: values, in: claim)
        case .ifFound(_, let element): value(of: Claim(claim.name, element))
        case .granted(let source, let otherwise):
            enrichments.append(Addition(source: source, name: []))
            flush()
            constants += otherwise
            place(
                .granted(enrichments.count - 1, otherwise: flushed, to: constants.count), named: claim.name,
                isFlushed: true)
            flushed = constants.count
        case .vouched(let source):
            enrichments.append(Addition(source: source, name: []))
            place(.vouched(enrichments.count - 1), of: claim)
        case .enrichment: break
        }
    }

    private mutating func array(of values: [Claim.Value], in claim: Claim) {
        append("[")
        var isSureToFollow = false
        for (index, value) in values.enumerated() {
            let source: String? = if case .ifFound(let source, _) = value { source } else { nil }
            if let source {
                enrichments.append(Addition(source: source, name: []))
                place(.ifFound(enrichments.count - 1), of: claim)
            }
            if isSureToFollow { append(",") } else if index > 0 { place(.separator, of: claim) }
            self.value(of: Claim(claim.name, value))
            if source == nil { isSureToFollow = true } else { place(.endOfElement, of: claim) }
        }
        append("]")
    }

    private mutating func text(of parts: [TextPart], for claim: Claim) {
        append("\"")
        for part in parts {
            switch part {
            case .constant(let text): escape(text)
            case .user: place(.user, of: claim)
            case .userInJSON: place(.userInJSON, of: claim)
            case .userInURL: place(.userInURL, of: claim)
            case .keyID: escape(keyID)
            case .moment(let moment): place(moment, of: claim)
            case .uuid: place(.uuid, of: claim)
            case .date: place(.date, of: claim)
            }
        }
        append("\"")
    }

    private mutating func place(_ moment: Moment, of claim: Claim) {
        moments.append(moment)
        place(.moment(moments.count - 1), of: claim)
    }

    private mutating func quote(constant text: String) {
        append("\"")
        escape(text)
        append("\"")
    }

    private mutating func escape(_ text: String) {
        var json = JSONWriter()
        json.string(text)
        constants += json.bytes.dropFirst().dropLast()
    }

    private mutating func quote(_ piece: Piece, of claim: Claim) {
        append("\"")
        place(piece, of: claim)
        append("\"")
    }

    private mutating func append(_ text: String) { constants += text.utf8 }

    private mutating func place(_ piece: Piece, of claim: Claim) { place(piece, named: claim.name) }

    private mutating func place(_ piece: Piece, named name: String, isFlushed: Bool = false) {
        if !isFlushed { flush() }
        pieces.append(piece)
        names.append(name)
    }

    private mutating func flush() {
        guard flushed < constants.count else { return }
        pieces.append(.constant(from: flushed, to: constants.count))
        names.append("")
        flushed = constants.count
    }

    /// Returns the template with the times of `life` filled in.
    func valid(_ life: Validity) -> ClaimsTemplate {
        var filled = ClaimsTemplate()
        filled.constants.reserveCapacity(constants.count + 2 * 20)
        filled.pieces.reserveCapacity(pieces.count)
        filled.names.reserveCapacity(pieces.count)
        filled.enrichments = enrichments
        filled.siblings = siblings.map { $0.valid(life) }
        filled.keyID = keyID
        for (piece, name) in zip(pieces, names) {
            switch piece {
            case .constant(let start, let end): filled.constants += constants[start..<end]
            case .issuedAt: filled.append(String(life.issuedAt))
            case .expiresAt: filled.append(String(life.expiresAt))
            case .moment(let index): filled.append(String(moments[index].value(in: life)))
            case .date: filled.constants += TextPart.date(of: life.issuedAt)
            case .granted(let source, let start, let end):
                filled.flush()
                let place = filled.constants.count
                filled.constants += constants[start..<end]
                filled.place(
                    .granted(source, otherwise: place, to: filled.constants.count), named: name, isFlushed: true)
                filled.flushed = filled.constants.count
            default: filled.place(piece, named: name)
            }
        }
        filled.flush()
        return filled
    }

    // MARK: Filling

    /// Appends the claims of a token.
    ///
    /// - Returns: the reason why there are none: a `Rejection` with `.mintFailed` where the subject lacks a value that
    ///   a claim needs, with `.malformedReport` where the user's id would be the name of another claim.
    func write(
        _ subject: Subject, _ enrichment: Enrichment, to output: inout ByteWriter,
        random: inout some RandomNumberGenerator
    ) -> Rejection? {
        var index = 0
        while index < pieces.count {
            defer { index += 1 }
            switch pieces[index] {
            case .constant(let start, let end): output.append(constants, from: start, to: end)
            case .separator: Self.separate(&output)
            case .user:
                guard let user = subject.user else { return lacking("a single user id", at: index) }
                output.append(escaping: user)
            case .identifiers:
                guard case .identifiers = subject.identity else { return lacking("named ids", at: index) }
                subject.write(to: &output)
            case .challenge:
                guard let challenge = subject.challenge else { return lacking("a challenge", at: index) }
                output.append(escaping: challenge)
            case .userInJSON:
                guard let user = subject.user else { return lacking("a single user id", at: index) }
                output.append(escaping: Self.inside(user))
            case .userInURL:
                guard let user = subject.user else { return lacking("a single user id", at: index) }
                PercentEncoding.encode(user, to: &output)
            case .distinct(let place):
                if let refusal = siblings[place].refusal(of: subject) { return refusal }
            case .granted(let source, let start, let end):
                if let value = enrichment[enrichments[source].source] {
                    output.append(value)
                } else {
                    output.append(constants, from: start, to: end)
                }
            case .vouched(let place):
                guard let value = enrichment[enrichments[place].source] else {
                    return Rejection(
                        .missingVouched,
                        "the claim \"\(names[index])\" needs a member that the event does not vouch for")
                }
                output.append(value)
            case .issuedAt, .expiresAt, .moment, .date:
                return Rejection(.mintFailed, "the claim \"\(names[index])\" was given no time")
            case .uuid: output.append(uuid: random.next(), random.next())
            case .enrichment(let place):
                guard let value = enrichment[enrichments[place].source] else { continue }
                Self.separate(&output)
                output.append(enrichments[place].name)
                output.append(value)
            case .ifFound(let place):
                if enrichment[enrichments[place].source] == nil { index = endOfElement(from: index) }
            case .endOfElement: break
            }
        }
        return nil
    }

    /// Returns `text` as it is between the quotation marks of a JSON string.
    static func inside(_ text: String) -> String {
        var json = JSONWriter()
        json.string(text)
        return String(decoding: json.bytes.dropFirst().dropLast(), as: UTF8.self)
    }

    private static func separate(_ output: inout ByteWriter) {
        guard output.last != UInt8(ascii: "{"), output.last != UInt8(ascii: "[") else { return }
        output.append(UInt8(ascii: ","))
    }

    /// Returns the place of the end of the element that begins at `index`.
    private func endOfElement(from index: Int) -> Int {
        pieces[index...].firstIndex { if case .endOfElement = $0 { true } else { false } } ?? pieces.count
    }

    private func lacking(_ what: String, at index: Int) -> Rejection {
        Rejection(.mintFailed, "the claim \"\(names[index])\" needs \(what), which the subject does not have")
    }
}
