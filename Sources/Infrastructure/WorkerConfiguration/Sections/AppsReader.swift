package import AdapterKit
import DeclaredAdapters
import YAMLReading
import Yams

/// Reads `apps`: which adapter, its settings, a key ring, a lifetime, a look-up.
struct AppsReader {
    let registry: AdapterRegistry
    let source: ConfigurationSource
    let keys: [String]
    let notes: FileNotes

    func read(_ section: Section) -> [Configuration.App] {
        if section.all.isEmpty {
            section.diagnostics.missing(
                section.name, section.node, "apps is empty, and a worker without an app has nothing to do; write one")
        }
        // With errors so far, the values may be larger than any machine can hold, and are not compared with anything.
        let isRight = !section.diagnostics.all.contains { $0.severity == .error }
        let members = section.all.compactMap { key, name, value -> LookupAccounts.Member? in
            if name == Configuration.App.unknown {
                section.diagnostics.error(
                    key,
                    "no app can be called \(name): the metrics count events of apps that are not configured under this name; rename the app"
                )
            }
            let app = Section(value, at: key, name: section.path(name), section.diagnostics)
            defer { app.finish() }
            let own = FileNotes()
            let reader = AppsReader(registry: registry, source: source.noted(in: own), keys: keys, notes: notes)
            defer { notes.add(own.files) }
            guard var member = reader.read(app, name: name) else { return nil }
            if isRight { member.app.fingerprint = own.fingerprint(with: FlowText.text(of: value)) }
            return member
        }
        return LookupAccounts.share(members)
    }

    private func read(_ app: Section, name: String) -> LookupAccounts.Member? {
        let registration = registration(app)
        let settings = app.value(of: Configuration.App.settingsKey)
        let key = key(app)
        var terms = WrittenApp()
        app.read(WrittenApp.settings, into: &terms)
        let seal = terms.seal.flatMap { readSeal($0, app) }
        checkPublication(terms, app)
        let lookupSection = app.section(Configuration.Lookup.section)
        let written = WrittenLookup(reading: lookupSection)
        guard let registration, let adapter = adapter(registration, settings, app) else { return nil }
        let seconds = seconds(of: terms.lifetime, adapter, app)
        checkUUIDs(registration, settings, app)
        let unset = registration.settings.map(\.name).filter { settings?.mapping?[$0] == nil }
        let lookup = LookupReader(
            source: source, section: lookupSection, written: written, adapter: adapter, unset: unset
        ).read(app: name)
        if terms.proof == .ownToken, !adapter.reportsFailedToken {
            app.error(
                WrittenApp.proof, "cannot be own_token: reports of \(adapter.vendor) never hold the token that failed")
        }
        guard let key else { return nil }
        return LookupAccounts.Member(
            app: Configuration.App(
                name: name, adapter: adapter, key: key.value, keyPlace: app.diagnostics.place(of: key.node),
                lifetime: seconds, identity: terms.identity, proof: terms.proof, topics: terms.topics,
                spread: terms.spread, missingUser: terms.missingUser,
                publishWindow: terms.publishWindow.components.seconds, seal: seal, publication: terms.publication,
                missingFacts: missingFacts(registration, app), settings: registration.settings, lookup: lookup,
                hasWrittenIdentity: app.value(of: WrittenApp.identity) != nil),
            written: written, section: lookupSection)
    }

    /// Warns about a setting whose vendor has UUIDs there, such as an app's name in place of its id.
    private func checkUUIDs(_ registration: AdapterRegistry.Registration, _ settings: Node?, _ app: Section) {
        for key in registration.settings where key.isUUID {
            guard let node = settings?.mapping?[key.name], let text = node.scalar?.string,
                UUIDText.words(of: text) == nil
            else { continue }
            app.diagnostics.warning(
                node,
                "\(app.path(of: Configuration.App.settingsKey)).\(key.name) is no UUID, as every \(key.name) of \(registration.vendor) is; copy it from the vendor's dashboard"
            )
        }
    }

    private static let missingFact = Diagnostic.Kind("facts about vendors are missing")

    private func missingFacts(_ registration: AdapterRegistry.Registration, _ app: Section) -> [Diagnostic] {
        let place = app.diagnostics.place(of: app.value(of: Configuration.App.adapterKey))
        return registration.missingFacts.map {
            Diagnostic(
                .warning, at: place, "a fact of \(registration.vendor) is missing: \($0)", kind: Self.missingFact)
        }
    }

    /// Warns about tokens that are sealed and still published to devices.
    private func checkPublication(_ terms: WrittenApp, _ app: Section) {
        guard terms.publication != .none, app.value(of: WrittenApp.seal) != nil else { return }
        app.warning(
            WrittenApp.publication,
            "hands devices what \(app.path(of: WrittenApp.seal)) keeps from them: they cannot open it; remove one of the two"
        )
    }

    private func registration(_ app: Section) -> AdapterRegistry.Registration? {
        guard let (name, node) = app.placed(Configuration.App.adapterKey) else { return nil }
        if name.contains("/") || name.hasSuffix(".yaml") || name.hasSuffix(".yml") { return declared(name, node, app) }
        if let registration = registry[name] { return registration }
        app.diagnostics.error(node, registry.error(without: name, shown: app.diagnostics.quote(name, node)))
        return nil
    }

    /// Returns the vendor in the file `path`. Errors of the file are reported at their places in it.
    private func declared(_ path: String, _ node: Node, _ app: Section) -> AdapterRegistry.Registration? {
        let name = app.path(of: Configuration.App.adapterKey)
        guard let text = app.text(ofFile: path, node, named: name, source) else { return nil }
        let (vendor, found) = DeclaredVendor.load(text, file: app.diagnostics.resolve(path))
        for diagnostic in found where diagnostic.severity == .error { app.diagnostics.append(diagnostic) }
        guard let vendor else {
            app.diagnostics.error(node, "the file of \(name) cannot be used; fix the errors that are reported in it")
            return nil
        }
        return vendor.registration
    }

    private func key(_ app: Section) -> (value: String, node: Node)? {
        guard let (name, node) = app.placed(Configuration.App.keyKey) else { return nil }
        guard keys.contains(name) else {
            refuseRing(name, node, app.diagnostics)
            return nil
        }
        return (name, node)
    }

    private func refuseRing(_ name: String, _ node: Node, _ diagnostics: Diagnostics) {
        let message = "keys has no key ring called \(diagnostics.quote(name, node)); "
        guard !keys.isEmpty else {
            diagnostics.missing(Configuration.Key.section.name, node, message + "it has none; write the ring there")
            return
        }
        let meant = Spelling.nearest(to: name, among: keys).map { "did you mean \($0)?" }
        diagnostics.error(node, message + (meant ?? "known: \(keys.joined(separator: ", "))"))
    }

    /// Returns the seal of the app's tokens from the file `path`; nil after reporting an error: one that cannot be used is never a
    /// token in the clear.
    private func readSeal(_ path: String, _ app: Section) -> TokenSeal? {
        let (name, node) = (app.path(of: WrittenApp.seal), app.value(of: WrittenApp.seal))
        guard let text = app.text(ofFile: path, node, named: name, source) else { return nil }
        do throws(JOSEError) { return try TokenSeal(publicJWK: SecretBytes(copying: text.utf8)) } catch {
            app.diagnostics.error(node, "the file of \(name) cannot be used: \(error.message)")
            return nil
        }
    }

    private func seconds(of lifetime: Duration?, _ adapter: any Adapter, _ app: Section) -> Int64 {
        guard let lifetime else { return adapter.lifetime.standard }
        let allowed = adapter.lifetime.allowed
        let seconds = lifetime.components.seconds
        if !allowed.contains(seconds) || lifetime.components.attoseconds != 0 {
            let least = DurationText.format(seconds: allowed.lowerBound),
                most = DurationText.format(seconds: allowed.upperBound)
            app.error(WrittenApp.lifetimeKey, "must be from \(least) to \(most), as tokens of \(adapter.vendor) live")
        }
        return seconds
    }

    // MARK: Settings

    private func adapter(_ registration: AdapterRegistry.Registration, _ node: Node?, _ app: Section) -> (any Adapter)?
    {
        let place = app.key(of: Configuration.App.settingsKey) ?? app.place
        let settings = Section(node, at: place, name: app.path(of: Configuration.App.settingsKey), app.diagnostics)
        var isComplete = node == nil || node?.mapping != nil
        for key in registration.settings {
            if settings.value(key.name) == nil, key.isRequired {
                settings.missing(key.name, "\(settings.path(key.name)) is missing: \(key.summary)")
                isComplete = false
            }
        }
        settings.finish()
        guard isComplete else { return nil }
        do {
            return try YAMLDecoder().decode(
                ConfiguredAdapter.self, from: node ?? .mapping(.init([])),
                userInfo: ConfiguredAdapter.userInfo(for: registration)
            ).adapter
        } catch let error as SettingsError {
            // A key that no adapter of this name has was reported already.
            guard error.key.isEmpty || registration.settings.contains(where: { $0.name == error.key }) else {
                return nil
            }
            app.diagnostics.error(settings.value(error.key) ?? place, "\(settings.path(error.key)) \(error.message)")
        } catch let error as DecodingError {
            let key = error.codingPath.first
            app.diagnostics.error(
                key.flatMap(settings.value) ?? node,
                "\(key.map(settings.path) ?? settings.name) has the wrong type\(hint(registration, key))")
        } catch {
            app.diagnostics.error(node, "the settings cannot be read")
        }
        return nil
    }

    private func hint(_ registration: AdapterRegistry.Registration, _ key: String?) -> String {
        registration.settings.first { $0.name == key }.map { ": \($0.summary)" } ?? ""
    }
}

extension DecodingError {
    fileprivate var codingPath: [String] {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.map(\.stringValue)
        case .keyNotFound(let key, let context): context.codingPath.map(\.stringValue) + [key.stringValue]
        @unknown default: []
        }
    }
}

extension AdapterRegistry {
    /// Returns the error of the name `name`, which this registry has no adapter for, with its correction.
    ///
    /// - Parameter shown: the name as the error may show it.
    package func error(without name: String, shown: String) -> String {
        let known = names
        // The name of a file that comes with the program and does not load.
        guard !known.contains(name) else {
            return "the program's file of the vendor \(name) cannot be used; install Remint again"
        }
        let meant = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
        return "no adapter is called \(shown); \(meant ?? "known: \(known.joined(separator: ", "))")"
    }
}
