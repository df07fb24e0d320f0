import AdapterKit
package import YAMLReading
import Yams

/// Reads a vendor's file: everything that is wrong is found in one go, each with its place.
package struct DescriptionReader {
    package init() {}

    /// Reads the description in `text` and its tests; nil where it has errors. The diagnostics are errors, warnings and
    /// notices.
    ///
    /// - Parameter file: the file's name in diagnostics.
    package func read(_ text: String, file: String) -> (
        description: VendorDescription?, tests: FileTests?, diagnostics: [Diagnostic]
    ) {
        let diagnostics = Diagnostics(file: file)
        guard let root = DescriptionText.root(of: text, diagnostics) else { return (nil, nil, diagnostics.all) }
        let section = Section(root, name: "", diagnostics)
        let description = root.mapping == nil ? nil : read(section)
        let tests = section.value("tests").map { _ in TestsReader().read(section.section("tests")) }
        section.finish()
        if let description {
            for fact in description.missing { diagnostics.warn(at: fact.place, "missing fact: \(fact.text)") }
        }
        let isUsable = !diagnostics.all.contains { $0.severity == .error }
        return (isUsable ? description : nil, isUsable ? tests : nil, diagnostics.all)
    }

    private func read(_ root: Section) -> VendorDescription? {
        let vendor = root.requiredText("vendor")?.text
        let name = name(root)
        let settings = SettingsReader().read(root.section("settings"))
        let vouched = SettingsReader().vouched(root.section("vouched"))
        let report = ReportReader(settings: settings).read(root.section("report"))
        let codes = CodesReader(report: report, settings: settings).read(root)
        let placeholders = Placeholders(
            settings: settings, vouched: vouched, isChallenged: report.isChallenged, diagnostics: root.diagnostics)
        let token = TokenReader(settings: settings, placeholders: placeholders, diagnostics: root.diagnostics).read(
            root.section("token"))
        let missing = facts(root, "missing")
        let about = root.requiredText("about")?.text ?? ""
        let key = KeyReader(token: token, settings: settings, report: report).read(root.section("key"))
        let verdicts = VerdictsReader().read(root.section("vendor_says"))
        let device = device(root.section("device"))
        let loop = loop(root.section("loop"))
        let sources = root.texts("sources") ?? [], ours = root.texts("ours") ?? []
        guard let vendor, let name, let token, let key else { return nil }
        return VendorDescription(
            name: name, vendor: vendor, about: about, sources: sources, ours: ours, missing: missing,
            settings: settings, vouched: vouched, report: report, codes: codes,
            token: token, key: key, device: device, loop: loop, verdicts: verdicts)
    }

    private func name(_ root: Section) -> String? {
        guard let (name, node) = root.requiredText("name") else { return nil }
        let isName =
            name.utf8.count <= 40 && name.utf8.first != UInt8(ascii: "-")
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
            }
        guard isName else {
            root.diagnostics.error(
                node, "name is the service's in small letters, digits and hyphens, such as our-vendor")
            return nil
        }
        return name
    }

    private func facts(_ root: Section, _ name: String) -> [MissingFact] {
        guard let node = root.value(name) else { return [] }
        let nodes: [Node] = node.sequence.map { Array($0) } ?? [node]
        return nodes.prefix(64).compactMap { node in
            guard let text = node.scalar?.string, !text.isEmpty else {
                root.diagnostics.error(node, "\(name) is a list of texts")
                return nil
            }
            return MissingFact(text: text, place: root.diagnostics.place(of: node))
        }
    }

    private func device(_ section: Section) -> DeviceCall {
        defer { section.finish() }
        return DeviceCall(
            section.requiredText("call")?.text ?? "", wantsIdentifier: section.bool("wants_identifier") ?? false)
    }

    private func loop(_ section: Section) -> LoopGuard {
        defer { section.finish() }
        return LoopGuard(
            tokens: section.integer("tokens", in: 1...10) ?? 1,
            countsEveryReport: section.bool("counts_every_report") ?? false)
    }
}

/// Reads `key`: how the vendor comes to hold it.
struct KeyReader {
    let token: TokenRules?
    let settings: [DeclaredSetting]
    let report: ReportRules

    func read(_ section: Section) -> KeyRules? {
        defer { section.finish() }
        let algorithms = algorithms
        let areSecrets = !algorithms.isEmpty && algorithms.allSatisfy { $0.keyType == .secret }
        let encoding = section.choice("encoding", SecretEncoding.self)?.choice
        if areSecrets, encoding == nil, section.value("encoding") == nil {
            section.diagnostics.error(
                section.node,
                "key.encoding is missing: how the vendor writes its secret, \(SecretEncoding.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        if !algorithms.isEmpty, !algorithms.contains(where: { $0.keyType == .secret }),
            let node = section.value("encoding")
        {
            section.diagnostics.error(
                node, "key.encoding is for shared secrets; \(algorithms[0].rawValue) has a key pair")
        }
        let origin = origin(section)
        let overlap = overlap(section)
        let before = section.texts("before_promotion") ?? []
        if before.isEmpty {
            section.diagnostics.error(
                section.node,
                "key.before_promotion is missing: what someone does at the vendor before a new key may sign")
        }
        let derivation = derivation(section, areSecrets)
        if origin == .ours, algorithms.contains(where: { $0.keyType == .secret }) {
            section.diagnostics.error(
                section.value("made_by"), "a shared secret has no half that is ours alone; write shared or vendor")
        }
        guard let origin, let overlap else { return nil }
        return KeyRules(
            encoding: encoding, derivation: derivation,
            handover: KeyHandover(
                origin: origin, overlap: overlap, beforePromotion: before,
                afterPromotion: section.texts("after_promotion") ?? [],
                afterRetirement: section.texts("after_retirement") ?? []))
    }

    private var algorithms: [Algorithm] {
        switch token?.signing {
        case .fixed(let algorithm)?: return [algorithm]
        case .setting(let name)?:
            guard case .algorithm(let algorithms)? = settings.first(where: { $0.name == name })?.kind else { return [] }
            return algorithms
        case nil: return []
        }
    }

    private func derivation(_ section: Section, _ areSecrets: Bool) -> KeyDerivation? {
        guard section.value("derived") != nil else { return nil }
        let derived = section.section("derived")
        defer { derived.finish() }
        guard let (text, node) = derived.requiredText("hmac") else { return nil }
        guard text == "{{date}}" else {
            section.diagnostics.error(
                node, "key.derived.hmac knows \"{{date}}\": HMAC-SHA256(secret, YYYYMMDD of the day in UTC)")
            return nil
        }
        if !areSecrets { section.diagnostics.error(node, "a key is derived from a shared secret alone") }
        if report.holdsToken {
            section.diagnostics.error(
                node, "with a key of the day, the signer of a reported token is unknown; remove report.token")
        }
        return .utcDate
    }

    private func origin(_ section: Section) -> KeyHandover.Origin? {
        word(section, "made_by", ["ours": .ours, "vendor": .vendor, "shared": .shared])
    }

    private func overlap(_ section: Section) -> KeyHandover.Overlap? {
        word(section, "older_tokens", ["stay_good": .several, "are_refused": .none])
    }

    private func word<Value>(_ section: Section, _ name: String, _ words: [String: Value]) -> Value? {
        guard let (text, node) = section.requiredText(name) else { return nil }
        if let value = words[text] { return value }
        section.diagnostics.error(
            node, "\(section.path(name)) must be one of \(words.keys.sorted().joined(separator: ", "))")
        return nil
    }
}
