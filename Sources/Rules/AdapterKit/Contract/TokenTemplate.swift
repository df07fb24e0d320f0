/// The tokens of an app, by which a signer knows them from every other token.
///
/// A token is admitted if the app's adapter gives exactly these bytes: the check reads out of the claims what differs from token
/// to token (the subject, the times, random ids, and the values that a look-up or the edge found), writes the token again from the
/// recipe, and compares. So a member more, another value, another order and another spelling are refused, in header and claims.
package struct TokenTemplate: Sendable {
    private let adapter: any Adapter
    /// The longest life of a token, in seconds.
    private let lifetime: Int64

    /// The tokens of `adapter` that live for `lifetime` seconds at most.
    package init(_ adapter: any Adapter, lifetime: Int64) {
        self.adapter = adapter
        self.lifetime = lifetime
    }

    /// Returns whether the signing input `input` with `claims` is a token that the key named `keyID` may sign at `now`.
    package func admits(_ input: [UInt8], _ claims: JSONValue, keyID: String?, at now: UnixTime) -> Bool {
        guard let subject = adapter.subject(named: claims) ?? (adapter.tokensNameUser ? nil : Subject(user: "")),
            !adapter.tokensNameUser || adapter.identifiers.refusal(of: subject) == nil, isOwn(subject)
        else { return false }
        let recipe = adapter.recipe(for: subject)
        var values = TokenValues(subject, keyID: keyID ?? "")
        values.read(recipe.claims, in: claims)
        guard recipe.derivation == nil, let end = values.expiresAt, isAdmitted(values.found) else { return false }
        let start = values.issuedAt ?? min(now.seconds, end)
        // Both bounds come from outside: neither difference may overflow.
        guard start >= 0, start <= end, end - start <= lifetime, end <= now.advanced(bySeconds: lifetime).seconds,
            let form = try? TokenForm(recipe, keyID: keyID, valid: Validity(from: start, to: end))
        else { return false }
        let again = try? form.signingInput(
            for: subject, adding: Enrichment(values.found.mapValues(\.json)), isFinishedInPlace: false,
            random: &values.random)
        return again?.bytes == input
    }

    /// Whether the adapter names the subject like this: of a user's named ids, a token may hold those of the app alone.
    private func isOwn(_ subject: Subject) -> Bool {
        guard case .identifiers = subject.identity else { return true }
        guard let ids = try? JSONDocument(parsing: ByteWriter.bytes { subject.write(to: &$0) }).root else {
            return false
        }
        return (try? adapter.subject(reissuing: ids)) == subject
    }

    private func isAdmitted(_ found: [String: TokenValues.Found]) -> Bool {
        found.allSatisfy { name, found in found.isConstant || adapter.admits(found.value, as: name) }
    }
}

/// The values of a token that its recipe leaves open.
private struct TokenValues {
    /// A value that a look-up or the edge found.
    struct Found {
        let value: JSONValue
        /// Whether it is the value that the recipe has where nothing was found.
        let isConstant: Bool

        var json: [UInt8] { value.json }
    }

    private let subject: Subject
    private let keyID: String
    private(set) var found: [String: Found] = [:]
    private(set) var issuedAt: Int64?
    private(set) var expiresAt: Int64?
    /// The random ids, in the order in which a token draws them.
    var random = DrawnNumbers()

    init(_ subject: Subject, keyID: String) {
        self.subject = subject
        self.keyID = keyID
    }

    mutating func read(_ claims: [Claim], in object: JSONValue) {
        for claim in claims {
            // The name of a claim has no time and no random id in it.
            let name = claim.nameParts.map { $0.map { known($0) ?? "" }.joined() } ?? claim.name
            if let value = object[name] { read(claim.value, in: value) }
        }
    }

    private mutating func read(_ source: Claim.Value, in value: JSONValue) {
        switch source {
        case .constant, .json, .keyID, .user, .identifiers, .challenge: break
        case .issuedAt: note(Moment(.issuedAt), value.integer)
        case .expiresAt: note(Moment(.expiresAt), value.integer)
        case .moment(let moment): note(moment, value.integer)
        case .uuid: random.draw(value.string)
        case .text(let parts): read(parts, in: value.string ?? "")
        case .object(let claims): read(claims, in: value)
        case .array(let sources): read(sources, in: value.elements)
        case .ifFound(let name, let element):
            read(element, in: value)
            if found[name] == nil { found[name] = Found(value: value, isConstant: true) }
        case .granted(let name, let otherwise): found[name] = Found(value: value, isConstant: value.json == otherwise)
        case .enrichment(let name), .vouched(let name): found[name] = Found(value: value, isConstant: false)
        }
    }

    private mutating func read(_ sources: [Claim.Value], in elements: [JSONValue]) {
        var rest = elements[...]
        for source in sources {
            guard let value = rest.first else { return }
            if case .ifFound(_, let element) = source, !Self.fits(element, value) { continue }
            read(source, in: value)
            rest = rest.dropFirst()
        }
    }

    /// Returns whether `value` has the constants of an element that may be left out.
    private static func fits(_ element: Claim.Value, _ value: JSONValue) -> Bool {
        switch element {
        case .constant(let text): value.string?.hasSameBytes(as: text) == true
        case .json(let json): value.json == json
        case .object(let claims):
            claims.allSatisfy { claim in
                guard claim.nameParts == nil else { return true }
                return value[claim.name].map { fits(claim.value, $0) } ?? false
            }
        default: true
        }
    }

    private mutating func read(_ parts: [TextPart], in text: String) {
        var rest = Array(text.utf8)[...]
        for part in parts {
            switch part {
            case .moment: rest = rest.drop { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            case .date: rest = rest.dropFirst(8)
            case .uuid:
                random.draw(String(decoding: rest.prefix(36), as: UTF8.self))
                rest = rest.dropFirst(36)
            default: rest = rest.dropFirst(known(part)?.utf8.count ?? 0)
            }
        }
    }

    /// Returns the text of a part that is known without the claims; nil for any other.
    private func known(_ part: TextPart) -> String? {
        switch part {
        case .constant(let text): text
        case .user: subject.user
        case .userInJSON: subject.user.map { ClaimsTemplate.inside($0) }
        case .userInURL:
            subject.user.map { user in
                String(decoding: ByteWriter.bytes { PercentEncoding.encode(user, to: &$0) }, as: UTF8.self)
            }
        case .keyID: keyID
        case .moment, .uuid, .date: nil
        }
    }

    /// Notes the time of which `number` is the `moment`. Another claim with another time is found when the bytes are compared.
    private mutating func note(_ moment: Moment, _ number: Int64?) {
        guard let number else { return }
        let seconds = moment.unit == .seconds ? number : number / 1000
        let (base, overflows) = seconds.subtractingReportingOverflow(moment.offset)
        guard !overflows else { return }
        if moment.base == .issuedAt { issuedAt = issuedAt ?? base } else { expiresAt = expiresAt ?? base }
    }
}

/// The random numbers that made a token's ids, in their order.
private struct DrawnNumbers: RandomNumberGenerator {
    private var numbers: [UInt64] = []

    /// Adds the two numbers of the UUID `text`; any other text gives numbers of another one.
    mutating func draw(_ text: String?) {
        let digits = (text ?? "").filter { $0 != "-" }
        numbers += [digits.prefix(16), digits.dropFirst(16)].map { UInt64($0, radix: 16) ?? 0 }
    }

    mutating func next() -> UInt64 { numbers.isEmpty ? 0 : numbers.removeFirst() }
}
