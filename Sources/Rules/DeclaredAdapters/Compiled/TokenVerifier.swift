import AdapterKit

/// A vendor's verdict on a token, by a file's checks. The verifier checks as well whatever the file does not mention.
struct TokenVerifier: Sendable {
    let rules: VerdictRules
    let recipe: Recipe
    /// The age by `iat` above which the vendor refuses a token, in seconds; nil where `exp` is the end.
    let ageLimit: Int64?
    let namesUser: Bool
    let userPlace: ClaimPlace?
    let challengePlace: ClaimPlace?
    let vouched: [String: VouchedMember.Kind]

    private struct Case {
        let token: [UInt8]
        let inspection: TokenInspection
        let keys: [VerificationKey]
        let subject: Subject
        let time: UnixTime
    }

    /// The order where the file states none.
    private static let standard: [VerdictRules.Check] = [
        .empty, .parts, .header, .algorithm, .payload, .signature, .expiryType, .expired, .claims, .user,
    ]

    func verdict(
        on token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict {
        let examined = Case(token: token, inspection: TokenInspection(token), keys: keys, subject: subject, time: time)
        for rule in rules.rules where fails(rule.check, rule.members, examined) { return rule.answer }
        for check in Self.standard where fails(check, [], examined) { return rules.otherwise }
        return .accepted
    }

    private func fails(_ check: VerdictRules.Check, _ members: [String], _ examined: Case) -> Bool {
        let inspection = examined.inspection
        switch check {
        case .empty: return examined.token.isEmpty
        case .blank: return !examined.token.contains { $0 > 0x20 }
        case .parts: return inspection.partCount != 3
        case .header: return inspection.header == nil
        case .headerLacks: return members.contains { inspection.header?[$0] == nil }
        case .algorithm: return inspection.header?["alg"]?.string != recipe.algorithm.rawValue
        case .payload: return inspection.claims == nil
        case .signature: return !isSigned(examined)
        case .claimsLack: return members.contains { inspection.claims?[$0] == nil }
        case .expiryType: return inspection.claims?[ageLimit == nil ? "exp" : "iat"]?.isNumber != true
        case .claims: return recipe.claims.contains { differs($0, inspection.claims) }
        case .expired:
            return inspection.claims != nil && end(of: inspection).map { $0 <= examined.time.seconds } ?? true
        case .user: return !names(examined.subject, inspection.claims)
        }
    }

    /// Returns the end of the token's life, in seconds since 1970; nil where the claims lack it.
    private func end(of inspection: TokenInspection) -> Int64? {
        guard let ageLimit else { return inspection.time("exp") }
        return inspection.time("iat").map { $0 + ageLimit }
    }

    private func names(_ subject: Subject, _ claims: JSONValue?) -> Bool {
        if namesUser {
            guard let named = userPlace?.text(in: claims), named.hasSameBytes(as: subject.user) else { return false }
            // What stands beside the user says whose id it is.
            guard let holder = recipe.claims.first(where: { $0.nameParts == nil && $0.name == userPlace?.claim }),
                let value = claims?[holder.name], isMinted(value, by: holder.value)
            else { return false }
        }
        guard let challengePlace else { return true }
        return challengePlace.text(in: claims).map { $0.hasSameBytes(as: subject.challenge) } ?? false
    }

    private func isSigned(_ examined: Case) -> Bool {
        let header = examined.inspection.header
        var keys = examined.keys.filter { $0.algorithm == recipe.algorithm }
        if recipe.namesKey { keys = keys.filter { $0.keyID != nil && $0.keyID == header?["kid"]?.string } }
        guard hasExpectedHeader(examined.inspection) else { return false }
        if let derivation = recipe.derivation {
            guard let issuedAt = examined.inspection.time("iat") else { return false }
            // The day's key has the day's name, which was compared above.
            keys = keys.compactMap { try? $0.derived(with: derivation.label(at: issuedAt)).named(nil) }
        }
        return examined.inspection.isSigned(byAnyOf: keys)
    }

    /// Members that are put together, such as the day's `kid`, are those of the token's own time.
    private func hasExpectedHeader(_ inspection: TokenInspection) -> Bool {
        let expected = recipe.header.compactMap { if case .text(let name, _) = $0 { name } else { nil } }
        guard !expected.isEmpty else { return true }
        let keyID = inspection.header?["kid"]?.string ?? ""
        guard let encoded = try? recipe.encodedHeader(keyID: keyID, issuedAt: inspection.time("iat") ?? 0),
            let bytes = try? Base64.url.decode(encoded[...]), let ours = try? JSONDocument(parsing: bytes).root
        else { return false }
        return expected.allSatisfy { inspection.header?[$0]?.string == ours[$0]?.string }
    }

    /// Returns whether the claim differs from the one that we mint. The user and the end have checks of their own.
    private func differs(_ claim: Claim, _ claims: JSONValue?) -> Bool {
        guard claim.nameParts == nil, claim.name != "exp", claim.name != userPlace?.claim,
            !rules.unchecked.contains(claim.name)
        else { return false }
        if case .enrichment = claim.value { return false }
        guard let value = claims?[claim.name] else { return !rules.optional.contains(claim.name) }
        return !isOfForm(value, claim.value)
    }

    /// Returns whether `value` is the constant of `rule`, or of the type that `rule` gives.
    private func isOfForm(_ value: JSONValue, _ rule: Claim.Value) -> Bool {
        switch rule {
        case .constant(let text): text.hasSameBytes(as: value.string)
        case .json(let json): Self.isSame(value.json, json)
        case .user, .challenge, .keyID, .uuid, .text: value.string?.isEmpty == false
        case .issuedAt, .expiresAt, .moment: value.isNumber
        case .object, .identifiers: value.isObject
        case .array: value.isArray
        case .granted(_, let otherwise): value.isString == (otherwise.first == UInt8(ascii: "\""))
        case .vouched(let key): isOfKind(value, key)
        case .enrichment: true
        case .ifFound(_, let element): isOfForm(value, element)
        }
    }

    /// Returns whether `value` has each member and each element of `rule`, in the form that we mint, and no other element.
    private func isMinted(_ value: JSONValue, by rule: Claim.Value) -> Bool {
        guard isOfForm(value, rule) else { return false }
        switch rule {
        case .object(let claims):
            return claims.allSatisfy { claim in
                guard claim.nameParts == nil else { return true }
                guard let member = value[claim.name] else {
                    if case .enrichment = claim.value { return true } else { return false }
                }
                return isMinted(member, by: claim.value)
            }
        case .array(let rules):
            var left = value.elements[...]
            for rule in rules {
                if let element = left.first, isMinted(element, by: rule) {
                    left.removeFirst()
                } else if case .ifFound = rule {
                    continue
                } else {
                    return false
                }
            }
            return left.isEmpty
        case .ifFound(_, let element): return isMinted(value, by: element)
        default: return true
        }
    }

    /// Returns whether `value` has the type of the member that the recipe calls `key`; a member in another form is a string.
    private func isOfKind(_ value: JSONValue, _ key: String) -> Bool {
        switch vouched[key] {
        case .text?, nil: value.isString
        case .integer?: value.isNumber
        case .boolean?: value.bool != nil
        case .object?: value.isObject
        case .texts?, .list?: value.isArray
        }
    }

    /// Returns whether the strings are the same. Constants are compared as we write them, whatever escapes a token has.
    private static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        if left == right { return true }
        guard let left = try? JSONDocument(parsing: left).root, let right = try? JSONDocument(parsing: right).root,
            let text = left.string
        else { return false }
        return text.hasSameBytes(as: right.string)
    }
}

/// The place in a token's claims that holds one thing, such as the user: the names and elements that lead there and the text
/// around it.
struct ClaimPlace: Sendable {
    private enum Step: Sendable {
        case member(String)
        /// An element of an array, from 0 on.
        case element(Int)
    }

    private let path: [Step]
    private let prefix: String
    private let suffix: String
    private let isInURL: Bool

    /// The first place in `claims` that holds `part`, or `value` by itself; nil where there is none.
    init?(of part: TextPart, or value: Claim.Value, in claims: [Claim]) {
        self.init(of: part, or: value, in: claims, under: [])
    }

    private init?(of part: TextPart, or value: Claim.Value, in claims: [Claim], under path: [Step]) {
        for claim in claims where claim.nameParts == nil {
            guard let found = ClaimPlace(of: part, or: value, in: claim.value, at: path + [.member(claim.name)])
            else { continue }
            self = found
            return
        }
        return nil
    }

    private init?(of part: TextPart, or value: Claim.Value, in holder: Claim.Value, at here: [Step]) {
        switch holder {
        case value: (path, prefix, suffix, isInURL) = (here, "", "", false)
        case .text(let parts):
            let isInURL = part == .user && parts.contains(.userInURL)
            guard let place = Self.surroundings(of: isInURL ? .userInURL : part, in: parts) else { return nil }
            (path, prefix, suffix, self.isInURL) = (here, place.prefix, place.suffix, isInURL)
        case .object(let inside):
            guard let found = ClaimPlace(of: part, or: value, in: inside, under: here) else { return nil }
            self = found
        case .array(let elements):
            // Behind an element that may be left out, the places differ from token to token.
            let fixed = elements.prefix { if case .ifFound = $0 { false } else { true } }
            let found = fixed.enumerated().lazy.compactMap {
                ClaimPlace(of: part, or: value, in: $0.element, at: here + [.element($0.offset)])
            }
            guard let first = found.first else { return nil }
            self = first
        default: return nil
        }
    }

    var claim: String? { if case .member(let name)? = path.first { name } else { nil } }

    /// Returns the text before and after the only `part`; nil where that text differs from token to token.
    private static func surroundings(of part: TextPart, in parts: [TextPart]) -> (prefix: String, suffix: String)? {
        var texts = [""]
        for other in parts {
            if other == part {
                texts.append("")
            } else if case .constant(let text) = other {
                texts[texts.count - 1] += text
            } else {
                return nil
            }
        }
        return texts.count == 2 ? (texts[0], texts[1]) : nil
    }

    /// Returns the text at the place in `claims`; nil where the place is missing or holds something else.
    func text(in claims: JSONValue?) -> String? {
        guard var value = claims else { return nil }
        for step in path {
            switch step {
            case .member(let name):
                guard let inside = value[name] else { return nil }
                value = inside
            case .element(let place):
                let elements = value.elements
                guard place < elements.count else { return nil }
                value = elements[place]
            }
        }
        guard let text = value.string else { return nil }
        guard !prefix.isEmpty || !suffix.isEmpty else { return text }
        let bytes = Array(text.utf8)
        guard bytes.count > prefix.utf8.count + suffix.utf8.count, bytes.starts(with: prefix.utf8),
            bytes.reversed().starts(with: suffix.utf8.reversed())
        else { return nil }
        let found = bytes[prefix.utf8.count..<(bytes.count - suffix.utf8.count)]
        guard isInURL else { return String(decoding: found, as: UTF8.self) }
        // Only what we would write ourselves: a vendor compares the URL as it is.
        return PercentEncoding.decoded(found).flatMap {
            Array(PercentEncoding.encoded($0).utf8) == Array(found) ? $0 : nil
        }
    }
}
