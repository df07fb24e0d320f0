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
        description: VendorDescription?, tests: FileTests?, unfilled: [FileLocation], diagnostics: [Diagnostic]
    ) {
        let diagnostics = Diagnostics(file: file)
        // The longest of the shipped files has a twentieth of these bounds.
        let root = YAMLText.root(
            of: text, largest: 256 << 10, mostNodes: 50_000, sample: "remint adapter new writes one to fill in",
            diagnostics)
        guard let root else { return (nil, nil, [], diagnostics.all) }
        let section = Section(root, name: "", diagnostics).declare(FileKeys.all)
        let description = root.mapping == nil ? nil : read(section)
        let required = description?.vouched.filter { $0.isRequired }.map { $0.name } ?? []
        let tests = section.read(FileKeys.tests).map { TestsReader(required: required).read($0) }
        section.finish()
        if root.mapping != nil { TestsReader.warnOfMissingTests(section) }
        if let description {
            describe(description.platforms, section)
            for fact in description.missing where !fact.text.hasPrefix(FileSkeleton.mark) {
                diagnostics.warn(at: fact.place, "missing fact: \(fact.text)")
            }
        }
        let unfilled = FileSkeleton.unfilled(in: root)
        for node in unfilled { diagnostics.warning(node, "\(node.scalar?.string ?? "")") }
        let isUsable = !diagnostics.all.contains { $0.severity == .error }
        return (
            isUsable ? description : nil, isUsable ? tests : nil, unfilled.map { diagnostics.place(of: $0) },
            diagnostics.all
        )
    }

    private func read(_ root: Section) -> VendorDescription? {
        let vendor = root.read(FileKeys.vendor)
        let name = name(root)
        let settings = SettingsReader().read(root.section(FileKeys.settings))
        let vouched = SettingsReader().vouched(root.section(FileKeys.vouched))
        let report = ReportReader(settings: settings).read(root.section(FileKeys.report))
        let codes = CodesReader(report: report, settings: settings).read(root)
        let placeholders = Placeholders(
            settings: settings, vouched: vouched, isChallenged: report.isChallenged, diagnostics: root.diagnostics)
        let token = TokenReader(settings: settings, placeholders: placeholders, diagnostics: root.diagnostics).read(
            root.section(FileKeys.token))
        if token?.namesUser == false, report.holdsToken {
            let section = root.section(FileKeys.report)
            root.diagnostics.error(
                section.key(of: FileKeys.Shape.token) ?? section.node,
                "tokens name no user, so a reported token proves nothing about its user; remove report.token")
        }
        let missing = facts(root, FileKeys.missing)
        let platforms = root.read(FileKeys.platforms).map { self.platforms($0) }
        let about = root.read(FileKeys.about) ?? ""
        let key = KeyReader(token: token, settings: settings, report: report).read(root.section(FileKeys.key))
        let verdicts = VerdictsReader().read(root.section(FileKeys.vendorSays))
        let device = device(root.section(FileKeys.device))
        let loop = loop(root.section(FileKeys.loop))
        let sources = root.read(FileKeys.sources) ?? [], ours = root.read(FileKeys.ours) ?? []
        guard let vendor, let name, let token, let key else { return nil }
        return VendorDescription(
            name: name, vendor: vendor, about: about, sources: sources, ours: ours, missing: missing,
            platforms: platforms, settings: settings, vouched: vouched, report: report, codes: codes,
            token: token, key: key, device: device, loop: loop, verdicts: verdicts)
    }

    private func name(_ root: Section) -> String? {
        guard let (name, node) = root.placed(FileKeys.name) else { return nil }
        guard VendorName.isValid(name) else {
            root.diagnostics.error(
                node, "name is the service's in small letters, digits and hyphens, such as our-vendor")
            return nil
        }
        return name
    }

    private func platforms(_ section: Section) -> ReadPlatforms {
        defer { section.finish() }
        return ReadPlatforms(
            read: section.read(FileKeys.Platforms.read) ?? [], notRead: facts(section, FileKeys.Platforms.notRead))
    }

    /// Reports the SDKs that were not read, so that a file without missing facts does not seem to cover them.
    private func describe(_ platforms: ReadPlatforms?, _ root: Section) {
        guard let platforms else {
            root.diagnostics.notice(
                at: root.diagnostics.place(of: root.node),
                "platforms is missing: read, the SDKs whose source was read for these rules, and not_read, the others")
            return
        }
        // A value to fill in has a warning of its own.
        for platform in platforms.notRead where !platform.text.hasPrefix(FileSkeleton.mark) {
            root.diagnostics.notice(at: platform.place, "not read: \(platform.text)")
        }
    }

    private func facts(_ root: Section, _ key: FileKey<Node>) -> [MissingFact] {
        guard let node = root.read(key) else { return [] }
        let nodes: [Node] = node.sequence.map { Array($0) } ?? [node]
        return nodes.prefix(64).compactMap { node in
            guard let text = node.scalar?.string, !text.isEmpty else {
                root.error(key, at: node, "is a list of texts")
                return nil
            }
            return MissingFact(text: text, place: root.diagnostics.place(of: node))
        }
    }

    private func device(_ section: Section) -> DeviceCall {
        defer { section.finish() }
        return DeviceCall(
            section.read(FileKeys.Device.call) ?? "",
            wantsIdentifier: section.read(FileKeys.Device.wantsIdentifier) ?? false)
    }

    private func loop(_ section: Section) -> LoopGuard {
        defer { section.finish() }
        return LoopGuard(
            tokens: section.read(FileKeys.Loop.tokens) ?? 1,
            countsEveryReport: section.read(FileKeys.Loop.countsEveryReport) ?? false)
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
        let encoding = section.read(FileKeys.Key.encoding)
        if areSecrets, encoding == nil, section.value(of: FileKeys.Key.encoding) == nil {
            section.missing(
                FileKeys.Key.encoding.name,
                "key.encoding is missing: how the vendor writes its secret, \(SecretEncoding.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        if !algorithms.isEmpty, !algorithms.contains(where: { $0.keyType == .secret }),
            let node = section.value(of: FileKeys.Key.encoding)
        {
            section.diagnostics.error(
                node, "key.encoding is for shared secrets; \(algorithms[0].rawValue) has a key pair")
        }
        let origin = section.read(FileKeys.Key.madeBy)
        let overlap = section.read(FileKeys.Key.olderTokens)
        let before = section.read(FileKeys.Key.beforePromotion) ?? []
        if before.isEmpty {
            section.missing(
                FileKeys.Key.beforePromotion.name,
                "key.before_promotion is missing: what someone does at the vendor before a new key may sign")
        }
        let derivation = derivation(section, areSecrets)
        if origin == .ours, algorithms.contains(where: { $0.keyType == .secret }) {
            section.diagnostics.error(
                section.value(of: FileKeys.Key.madeBy),
                "a shared secret has no half that is ours alone; write shared or vendor")
        }
        guard let origin, let overlap else { return nil }
        return KeyRules(
            encoding: encoding, derivation: derivation,
            handover: KeyHandover(
                origin: origin, overlap: overlap, beforePromotion: before,
                afterPromotion: section.read(FileKeys.Key.afterPromotion) ?? [],
                afterRetirement: section.read(FileKeys.Key.afterRetirement) ?? []))
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
        guard let derived = section.read(FileKeys.Key.derived) else { return nil }
        defer { derived.finish() }
        guard let (text, node) = derived.placed(FileKeys.Key.hmac) else { return nil }
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
}

/// Reads `vendor_says`: the vendor's checks in its order.
struct VerdictsReader {
    func read(_ section: Section) -> VerdictRules {
        defer { section.finish() }
        let otherwise = answer(section, FileKeys.Verdicts.otherwise)
        return VerdictRules(
            rules: rules(section), otherwise: otherwise ?? .refused(code: "-", name: "-"),
            unchecked: Set(section.read(FileKeys.Verdicts.unchecked) ?? []),
            optional: Set(section.read(FileKeys.Verdicts.optional) ?? []))
    }

    private func rules(_ section: Section) -> [VerdictRules.Rule] {
        guard let node = section.read(FileKeys.Verdicts.first) else { return [] }
        guard let nodes = node.sequence, nodes.count <= 64 else {
            section.error(FileKeys.Verdicts.first, at: node, "must be a list of checks")
            return []
        }
        return section.each(nodes, of: FileKeys.Verdicts.first, FileKeys.Verdicts.Rule.all) { rule, node in
            guard let check = rule.read(FileKeys.Verdicts.Rule.check) else { return nil }
            let members = rule.read(FileKeys.Verdicts.Rule.members) ?? []
            if [.headerLacks, .claimsLack].contains(check), members.isEmpty {
                section.diagnostics.error(node, "\(check.rawValue) needs \"members\", what must be there")
            }
            guard let answer = answer(rule, FileKeys.Verdicts.Rule.says) else { return nil }
            return VerdictRules.Rule(check: check, members: members, answer: answer)
        }
    }

    /// Reads a verdict: a code, a space, a name.
    private func answer(_ section: Section, _ key: FileKey<Node>) -> VendorVerdict? {
        guard let node = section.read(key) else { return nil }
        let parts = node.scalar?.string.split(separator: " ", maxSplits: 1).map(String.init) ?? []
        guard parts.count == 2 else {
            section.error(
                key, at: node,
                "is the vendor's code, a space and its name, such as 401 Unauthorized; a vendor without codes has a hyphen, in quotes: \"- refused\""
            )
            return nil
        }
        return .refused(code: parts[0], name: parts[1])
    }
}
