package import AdapterKit
package import YAMLReading

/// A vendor's file that was read: its description, and its tests.
package struct DeclaredVendor: Sendable {
    package let description: VendorDescription
    /// The tests in the file; nil where there are none.
    package let tests: FileTests?
    /// The places of values that an author has still to fill in.
    package let unfilled: [FileLocation]

    /// Reads the vendor in `text`; nil where it has errors. The diagnostics are errors, warnings and notices.
    ///
    /// - Parameter file: the file's name in diagnostics.
    package static func load(_ text: String, file: String) -> (vendor: DeclaredVendor?, diagnostics: [Diagnostic]) {
        let read = DescriptionReader().read(text, file: file)
        return (
            read.description.map { DeclaredVendor(description: $0, tests: read.tests, unfilled: read.unfilled) },
            read.diagnostics
        )
    }

    package var registration: AdapterRegistry.Registration {
        let description = description
        return AdapterRegistry.Registration(
            name: description.name, vendor: description.vendor, settings: description.settings.map(\.key),
            missingFacts: description.missing.map(\.text)
        ) { decoder in
            try DeclaredAdapter(settings: DeclaredSettings(description, from: decoder))
        }
    }
}

/// A vendor with rules in a file. The file's rules are compiled when the app is configured: recipe and tables are of
/// the same kind as those of compiled adapters.
package final class DeclaredAdapter: Adapter {
    /// The kind; each adapter names its own vendor.
    package static let name = "declared"
    /// The kind; each adapter names its own vendor.
    package static let vendor = "declared"

    package let description: VendorDescription
    package let algorithm: Algorithm
    package let identifiers: IdentifierRule
    private let appRecipe: Recipe
    private let decoder: ReportDecoder
    private let verifier: TokenVerifier
    private let grants: [ClaimsCompiler.Grant]
    package let requiredVouched: [String]
    package var tokensNameUser: Bool { description.token.namesUser }

    package init(settings: DeclaredSettings) throws(SettingsError) {
        let description = settings.description
        self.description = description
        switch description.token.signing {
        case .fixed(let algorithm): self.algorithm = algorithm
        case .setting(let name):
            guard case .text(let text)? = settings.values[name], let algorithm = Algorithm(named: text) else {
                throw SettingsError(name, "is no algorithm")
            }
            self.algorithm = algorithm
        }
        requiredVouched = description.vouched.filter(\.isRequired).map(\.name)
        var compiler = ClaimsCompiler(settings.values, required: Set(requiredVouched))
        let claims = compiler.claims(description.token.claims)
        appRecipe = Recipe(
            algorithm: algorithm, header: compiler.header(description.token.header), claims: claims,
            lifetime: description.token.lifetime, derivation: description.key.derivation)
        if let (setting, name) = compiler.duplicate(in: description.token.claims) {
            throw SettingsError(setting, "makes two claims of the name \"\(name)\"; choose another value")
        }
        // A part of dots alone is taken out of a URL on the way, encoded or not (RFC 3986, section 5.2.4).
        identifiers = description.report.identifiers.excluding(appRecipe.hasUserInURL ? [".", ".."] : [])
        grants = compiler.grants
        let userPlace = ClaimPlace(of: .user, or: .user, in: claims)
        decoder = ReportDecoder(description, settings.values, userPlace: userPlace)
        verifier = TokenVerifier(
            rules: description.verdicts, recipe: appRecipe, ageLimit: description.token.ageLimit,
            namesUser: description.token.namesUser, userPlace: userPlace,
            challengePlace: ClaimPlace(of: .constant("\u{0}"), or: .challenge, in: claims),
            vouched: Dictionary(description.vouched.map { ($0.name, $0.kind) }) { first, _ in first })
    }

    package var name: String { description.name }
    package var vendor: String { description.vendor }
    package var lifetime: LifetimeBounds { description.token.lifetime }
    package var secretEncoding: SecretEncoding? { algorithm.keyType == .secret ? description.key.encoding : nil }
    package var keyHandover: KeyHandover { description.key.handover }
    package var deviceCall: DeviceCall { description.device }
    package var loopGuard: LoopGuard { description.loop }
    package var reportsFailedToken: Bool { description.report.holdsToken }

    package func read(_ report: Report) -> Reading { decoder.reading(of: report) }

    package func recipe(for subject: Subject) -> Recipe { appRecipe }

    /// Returns the vouched user, with those declared members that the vendor's claims use.
    package func vouchedUser(_ members: JSONValue) throws(Rejection) -> VouchedUser {
        let user = try VouchedUser.id("user", in: members, besides: Set(description.vouched.map(\.name)))
        guard !description.vouched.isEmpty else { return VouchedUser(Subject(user: user)) }
        var granted: [String: [UInt8]] = [:]
        for member in description.vouched {
            guard let value = members[member.name] else { continue }
            try member.check(value)
            for grant in grants where grant.member == member.name { granted[grant.key] = value.json(as: grant.form) }
        }
        return VouchedUser(
            Subject(user: user), grants: Enrichment(granted), missing: requiredVouched.filter { members[$0] == nil })
    }

    /// Returns whether the file's `vouched` allows the value, in the form that the claim wants.
    package func admits(_ value: JSONValue, as name: String) -> Bool {
        guard let grant = grants.first(where: { $0.key == name }),
            let member = description.vouched.first(where: { $0.name == grant.member })
        else { return false }
        switch grant.form {
        case .itself: return (try? member.check(value)) != nil
        case .jsonText:
            let inside = value.string.flatMap { try? JSONDocument(parsing: Array($0.utf8)).root }
            return inside.map { (try? member.check($0)) != nil } ?? false
        case .joined(let separator):
            guard let text = value.string, text.utf8.count <= member.limit else { return false }
            let texts = member.kind == .texts && !separator.isEmpty ? text.split(separator: separator) : [text[...]]
            return member.strings == .any || texts.allSatisfy { member.strings.contain($0.utf8) }
        }
    }

    package func subject(reissuing user: JSONValue) throws(Rejection) -> Subject {
        guard !description.report.isChallenged else {
            throw Rejection(
                .missingChallenge, "a token of \(vendor) answers a challenge, which a request does not have")
        }
        return try Subject(reissuing: user)
    }

    package func subject(named claims: JSONValue) -> Subject? {
        verifier.userPlace?.text(in: claims).map {
            Subject(user: $0, challenge: verifier.challengePlace?.text(in: claims))
        }
    }

    package func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict {
        verifier.verdict(on: token, against: keys, expecting: subject, at: time)
    }
}

extension VouchedMember {
    /// - Throws: `Rejection` with `.malformedEvent` for a value of another type, another string than `strings` allows, or a
    ///   longer value.
    fileprivate func check(_ value: JSONValue) throws(Rejection) {
        let isRight =
            switch kind {
            case .text: value.isString && !value.rawBytes.isEmpty
            case .integer: value.integer != nil
            case .boolean: value.bool != nil
            case .object: value.isObject
            case .list: value.isArray
            case .texts: value.isArray && value.elements.allSatisfy(\.isString)
            }
        guard isRight else {
            throw Rejection(.malformedEvent, "\"vouched.\(name)\" is not what it must be: \(kind.rawValue)")
        }
        guard strings == .any || allows(value) else {
            throw Rejection(.malformedEvent, "\"vouched.\(name)\" is not \(strings.text ?? kind.rawValue)")
        }
        guard value.rawBytes.count <= limit else {
            throw Rejection(.malformedEvent, "\"vouched.\(name)\" is longer than \(limit) bytes")
        }
    }

    /// Returns whether `strings` allow the string `value`, or each string of the list `value`.
    private func allows(_ value: JSONValue) -> Bool {
        guard value.isString else { return value.elements.allSatisfy { allows($0) } }
        // A string without an escape is compared where it is.
        guard value.rawBytes.contains(UInt8(ascii: "\\")) else { return strings.contain(value.rawBytes) }
        return value.string.map { strings.contain($0.utf8) } ?? false
    }
}

extension JSONValue {
    fileprivate func json(as form: VouchedMember.Form) -> [UInt8] {
        var writer = JSONWriter(capacity: 64)
        switch form {
        case .itself: return compactJSON
        case .jsonText: writer.string(String(decoding: compactJSON, as: UTF8.self))
        case .joined(let separator):
            let texts = isArray ? elements.compactMap(\.string) : [string ?? String(decoding: json, as: UTF8.self)]
            writer.string(texts.joined(separator: separator))
        }
        return writer.bytes
    }
}

/// The settings of an app of a declared vendor: the file's keys, with the app's values.
package struct DeclaredSettings: AdapterSettings {
    package let description: VendorDescription
    /// The effective values by key, defaults among them.
    let values: [String: SettingValue]

    package static let keys: [SettingKey] = []

    /// Always fails: settings alone do not show their vendor.
    package init(from decoder: any Decoder) throws {
        throw SettingsError("", "a declared vendor's settings need its file")
    }

    /// Decodes the settings of `description` from `decoder`.
    ///
    /// - Throws: `SettingsError` for keys that are missing, unknown or impossible, `DecodingError` for another type.
    init(_ description: VendorDescription, from decoder: any Decoder) throws {
        self.description = description
        let container = try decoder.settings()
        let known = Set(description.settings.map(\.name))
        if let unknown = container.allKeys.first(where: { !known.contains($0.stringValue) }) {
            throw SettingsError(unknown.stringValue, "is not known; known: \(known.sorted().joined(separator: ", "))")
        }
        var values: [String: SettingValue] = [:]
        for setting in description.settings {
            let value = try setting.value(in: container) ?? setting.standard
            if value == nil, setting.isRequired { throw SettingsError(setting.name, "is missing: \(setting.about)") }
            values[setting.name] = value
        }
        self.values = values
    }
}

extension DeclaredSetting {
    /// Returns the value in `container`; nil where there is none.
    fileprivate func value(in container: KeyedDecodingContainer<SettingCodingKey>) throws -> SettingValue? {
        switch kind {
        case .boolean: return try container.optional(name, as: Bool.self).map { .boolean($0) }
        case .integer: return try container.optional(name, as: Int64.self).map { .integer($0) }
        case .texts: return try container.optional(name, as: [String].self).map { .texts($0) }
        case .text, .choice, .algorithm, .json: break
        }
        guard let text = try container.optional(name, as: String.self) else { return nil }
        guard !text.isEmpty else { throw SettingsError(name, "is empty; \(about)") }
        guard text.utf8.count <= 8192 else { throw SettingsError(name, "is longer than 8192 bytes") }
        switch kind {
        case .choice(let words):
            guard words.contains(text) else {
                throw SettingsError(name, "must be one of \(words.joined(separator: ", "))")
            }
        case .algorithm(let algorithms):
            guard let algorithm = Algorithm(named: text), algorithms.contains(algorithm) else {
                throw SettingsError(name, "must be one of \(algorithms.map(\.rawValue).joined(separator: ", "))")
            }
            return .text(algorithm.rawValue)
        case .json:
            guard let root = try? JSONDocument(parsing: Array(text.utf8)).root else {
                throw SettingsError(name, "is not JSON; \(about)")
            }
            return .json(root.compactJSON)
        default:
            guard prefix.isEmpty || text.hasPrefix(prefix) else {
                throw SettingsError(name, "must begin with \(prefix); \(about)")
            }
            if let form, !form.matches(text.utf8) {
                throw SettingsError(name, "must be \(form.text); \(about)")
            }
        }
        return .text(text)
    }
}

extension JSONValue {
    /// The value without white space between its parts.
    var compactJSON: [UInt8] {
        var json = JSONWriter(capacity: 64)
        write(to: &json)
        return json.bytes
    }

    private func write(to writer: inout JSONWriter) {
        if isObject {
            writer.beginObject()
            for (name, value) in members {
                writer.name(name)
                value.write(to: &writer)
            }
            writer.endObject()
        } else if isArray {
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        } else {
            writer.raw(json)
        }
    }
}
