import AdapterKit

/// Puts an app's settings into a file's claims. The result is a recipe, like those of compiled adapters.
struct ClaimsCompiler {
    let settings: [String: SettingValue]
    /// The members of `vouched` without which there is no token.
    private let required: Set<String>
    /// The members of `vouched` that the claims use, each in the form that a claim wants.
    private(set) var grants: [Grant] = []
    /// The member that is there in the element that is compiled: without it there is no element.
    private var givenMember: String?

    /// A member of `vouched` in the form that a claim wants.
    struct Grant: Sendable, Equatable {
        let member: String
        let form: VouchedMember.Form

        /// The name by which a recipe asks for it.
        var key: String {
            switch form {
            case .itself: member
            case .jsonText: "\(member)/json"
            case .joined(let separator): "\(member)/joined/\(separator)"
            }
        }
    }

    init(_ settings: [String: SettingValue], required: Set<String> = []) {
        self.settings = settings
        self.required = required
    }

    mutating func claims(_ rules: [ClaimRule]) -> [Claim] {
        var claims: [Claim] = []
        for rule in rules {
            switch rule {
            case .claim(let name, let value, _):
                guard let value = self.value(value) else { continue }
                let parts = text(name)
                if case .constant(let constant)? = parts.first, parts.count == 1 {
                    claims.append(Claim(constant, value))
                } else {
                    claims.append(Claim("a claim with a name put together", of: parts, value))
                }
            case .oneOf(let setting, let choices):
                claims += self.claims(choices[settings[setting]?.text ?? ""] ?? [])
            }
        }
        return claims
    }

    func header(_ rules: [HeaderRule]) -> [Recipe.HeaderMember] {
        rules.compactMap { rule in
            var value = rule.value
            if case .oneOf(let setting, let choices) = value {
                guard let chosen = choices[settings[setting]?.text ?? ""] else { return nil }
                value = chosen
            }
            guard case .text(let parts) = value else { return nil }
            let text = self.text(parts)
            if text == [.keyID], rule.name == "kid" { return .keyID }
            if case .constant(let constant)? = text.first, text.count == 1 {
                return .constant(name: rule.name, value: constant)
            }
            return .text(name: rule.name, text)
        }
    }

    // MARK: Values

    /// Returns the claim's value; nil where the member is left out.
    private mutating func value(_ rule: ValueRule) -> Claim.Value? {
        switch rule {
        case .constant(let json): return .json(json)
        case .placeholder(let placeholder): return value(of: placeholder, as: .itself)
        case .text(let parts):
            let text = self.text(parts)
            if case .constant(let constant)? = text.first, text.count == 1 { return .constant(constant) }
            return .text(text)
        case .object(let rules): return .object(claims(rules))
        case .array(let rules):
            var values: [Claim.Value] = []
            for rule in rules { if let value = value(rule) { values.append(value) } }
            return .array(values)
        case .ifVouched(let member, let inner): return element(inner, ifVouched: member)
        case .moment(let moment): return .moment(moment)
        case .jsonText(.placeholder(.vouched(let member))): return value(of: .vouched(member), as: .jsonText)
        case .jsonText(let inner): return value(inner).map { .text(Self.merged(Self.json($0))) }
        case .joined(let rules, let separator):
            if rules.count == 1, case .placeholder(.vouched(let member)) = rules[0] {
                return value(of: .vouched(member), as: .joined(separator))
            }
            return joined(rules, separator)
        case .oneOf(let setting, let choices):
            guard let chosen = choices[settings[setting]?.text ?? ""] else { return nil }
            return value(chosen)
        case .omitted(let inner): return value(inner)
        case .absent: return nil
        case .granted(let member, let otherwise, let isJSONText):
            let grant = Grant(member: member, form: isJSONText ? .jsonText : .itself)
            if !grants.contains(grant) { grants.append(grant) }
            let constant = value(otherwise).map(Self.json) ?? [.constant("null")]
            let json = constant.reduce(into: "") { if case .constant(let text) = $1 { $0 += text } }
            return .granted(grant.key, otherwise: Array((isJSONText ? json.quotedAsJSON : json).utf8))
        }
    }

    private mutating func element(_ rule: ValueRule, ifVouched member: String) -> Claim.Value? {
        givenMember = member
        defer { givenMember = nil }
        let grant = Grant(member: member, form: .itself)
        if !grants.contains(grant) { grants.append(grant) }
        return value(rule).map { .ifFound(grant.key, $0) }
    }

    private mutating func value(of placeholder: Placeholder, as form: VouchedMember.Form) -> Claim.Value? {
        switch placeholder {
        case .user: return .user
        case .challenge: return .challenge
        case .keyID: return .keyID
        case .moment(Moment(.issuedAt)): return .issuedAt
        case .moment(Moment(.expiresAt)): return .expiresAt
        case .moment(let moment): return .moment(moment)
        case .uuid: return .uuid
        case .date: return .text([.date])
        case .setting(let name): return settings[name].map { .json($0.json) }
        case .vouched(let member):
            let grant = Grant(member: member, form: form)
            if !grants.contains(grant) { grants.append(grant) }
            let isThere = member == givenMember || required.contains(member)
            return isThere ? .vouched(grant.key) : .enrichment(grant.key)
        }
    }

    private mutating func joined(_ rules: [ValueRule], _ separator: String) -> Claim.Value? {
        var texts: [[TextPart]] = []
        for rule in rules {
            switch rule {
            case .placeholder(.setting(let name)):
                guard case .texts(let list)? = settings[name] else {
                    if let value = settings[name] { texts.append([.constant(value.text)]) }
                    continue
                }
                texts += list.map { [.constant($0)] }
            case .placeholder(.keyID): texts.append([.keyID])
            case .text(let parts): texts.append(text(parts))
            case .constant(let json):
                if let text = try? JSONDocument(parsing: json).root.string { texts.append([.constant(text)]) }
            default: continue
            }
        }
        guard !texts.isEmpty else { return nil }
        return .text(Self.merged(Array(texts.joined(separator: [.constant(separator)]))))
    }

    // MARK: Texts

    func text(_ rules: [TextRule]) -> [TextPart] {
        var before = ""
        return Self.merged(
            rules.map { rule in
                // Behind two slashes the text is a URL, of which the user is one part and nothing more.
                let part = self.part(rule, isInURL: Self.beginsURL(before))
                if case .constant(let text) = part { before += text }
                return part
            })
    }

    private static func beginsURL(_ text: String) -> Bool {
        zip(text.utf8, text.utf8.dropFirst()).contains { $0 == UInt8(ascii: "/") && $1 == UInt8(ascii: "/") }
    }

    private func part(_ rule: TextRule, isInURL: Bool) -> TextPart {
        switch rule {
        case .constant(let text): .constant(text)
        case .placeholder(.user): isInURL ? .userInURL : .user
        case .placeholder(.keyID): .keyID
        case .placeholder(.moment(let moment)): .moment(moment)
        case .placeholder(.uuid): .uuid
        case .placeholder(.date): .date
        case .placeholder(.setting(let name)): .constant(settings[name]?.text ?? "")
        // Reading refuses these within a string.
        case .placeholder(.challenge), .placeholder(.vouched): .constant("")
        }
    }

    // MARK: Names

    /// Returns a setting that gives two claims in one object the same name, and that name; nil where all names differ.
    func duplicate(in rules: [ClaimRule]) -> (setting: String, name: String)? {
        var seen: Set<[UInt8]> = []
        return duplicate(in: rules, &seen)
    }

    private func duplicate(in rules: [ClaimRule], _ seen: inout Set<[UInt8]>) -> (setting: String, name: String)? {
        for rule in rules {
            switch rule {
            case .claim(let name, let value, _):
                let parts = text(name)
                if case .constant(let constant)? = parts.first, parts.count == 1,
                    !seen.insert(Array(constant.utf8)).inserted
                {
                    return (Self.setting(in: name), constant)
                }
                if let found = duplicate(in: value) { return found }
            case .oneOf(let setting, let choices):
                if let found = duplicate(in: choices[settings[setting]?.text ?? ""] ?? [], &seen) { return found }
            }
        }
        return nil
    }

    private func duplicate(in value: ValueRule) -> (setting: String, name: String)? {
        switch value {
        case .object(let rules): duplicate(in: rules)
        case .array(let values): values.lazy.compactMap { duplicate(in: $0) }.first
        case .jsonText(let inner), .omitted(let inner), .ifVouched(_, let inner): duplicate(in: inner)
        case .oneOf(let setting, let choices):
            choices[settings[setting]?.text ?? ""].flatMap { duplicate(in: $0) }
        default: nil
        }
    }

    private static func setting(in name: [TextRule]) -> String {
        for case .placeholder(.setting(let setting)) in name { return setting }
        return ""
    }

    private static func merged(_ parts: [TextPart]) -> [TextPart] {
        parts.reduce(into: []) { merged, part in
            if case .constant(let text) = part, case .constant(let before)? = merged.last {
                merged[merged.count - 1] = .constant(before + text)
            } else {
                merged.append(part)
            }
        }
    }

    private static func json(_ value: Claim.Value) -> [TextPart] {
        func quoted(_ part: TextPart) -> [TextPart] { [.constant("\""), part, .constant("\"")] }
        switch value {
        case .json(let json): return [.constant(String(decoding: json, as: UTF8.self))]
        case .constant(let text): return [.constant(text.quotedAsJSON)]
        case .user: return quoted(.userInJSON)
        case .keyID: return quoted(.keyID)
        case .uuid: return quoted(.uuid)
        case .issuedAt: return [.moment(Moment(.issuedAt))]
        case .expiresAt: return [.moment(Moment(.expiresAt))]
        case .moment(let moment): return [.moment(moment)]
        case .text(let parts):
            return [.constant("\"")] + parts.map(inJSON) + [.constant("\"")]
        case .object(let claims):
            let members = claims.map { claim -> [TextPart] in
                let name = claim.nameParts.map { [.constant("\"")] + $0.map(inJSON) + [.constant("\"")] }
                return (name ?? [.constant(claim.name.quotedAsJSON)]) + [.constant(":")] + json(claim.value)
            }
            return [.constant("{")] + Array(members.joined(separator: [.constant(",")])) + [.constant("}")]
        case .array(let values):
            return [.constant("[")] + Array(values.map(json).joined(separator: [.constant(",")])) + [.constant("]")]
        // Reading refuses these within $json.
        case .challenge, .identifiers, .enrichment, .granted, .vouched, .ifFound: return [.constant("null")]
        }
    }

    private static func inJSON(_ part: TextPart) -> TextPart {
        switch part {
        case .constant(let text): .constant(String(text.quotedAsJSON.dropFirst().dropLast()))
        case .user: .userInJSON
        default: part
        }
    }
}

extension String {
    fileprivate var quotedAsJSON: String {
        var json = JSONWriter(capacity: utf8.count + 2)
        json.string(self)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
