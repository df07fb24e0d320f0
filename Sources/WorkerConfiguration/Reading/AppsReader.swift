import AdapterKit
import DeclaredAdapters
import Yams

/// Reads `apps`: which adapter, its settings, a key ring, a lifetime, a look-up.
struct AppsReader {
    let registry: AdapterRegistry
    let source: ConfigurationSource
    let keys: [String]
    /// The record of the files that apps name.
    let notes: FileNotes

    func read(_ section: Section) -> [Configuration.App] {
        if section.all.isEmpty {
            section.diagnostics.error(
                section.node, "apps is empty, and a worker without an app has nothing to do; write one")
        }
        // With errors so far, the values may be larger than any machine can hold, and are not compared with anything.
        let isRight = !section.diagnostics.all.contains { $0.severity == .error }
        let members = section.all.compactMap { _, name, value -> LookupAccounts.Member? in
            let app = Section(value, name: section.path(name), section.diagnostics)
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
        let settings = app.value("settings")
        let key = key(app)
        let lifetime = app.duration("lifetime", in: Configuration.App.lifetimeRange)
        let publishWindow = app.duration("publish_window", in: Configuration.App.lifetimeRange)
        let missingUser = app.choice("missing_user", MissingUser.self)?.choice
        let identity = app.choice("identity", IdentitySource.self)?.choice
        let proof = app.choice("proof", ProofDemand.self)
        let topics = topics(app)
        let spread = app.share("spread", in: Configuration.App.spreadRange)
        let seal = SealReader(source: source).read(app)
        let publication = publication(app)
        let written = WrittenLookup(app.section("lookup"))
        guard let registration, let adapter = adapter(registration, settings, app) else { return nil }
        let seconds = seconds(of: lifetime, adapter, app)
        let unset = registration.settings.map(\.name).filter { settings?.mapping?[$0] == nil }
        let lookup = LookupReader(source: source, written: written, adapter: adapter, unset: unset).read(app: name)
        if let proof, proof.choice == .ownToken, !adapter.reportsFailedToken {
            app.diagnostics.error(
                proof.node,
                "\(app.path("proof")) cannot be own_token: reports of \(adapter.vendor) never hold the token that failed"
            )
        }
        guard let key else { return nil }
        return LookupAccounts.Member(
            app: Configuration.App(
                name: name, adapter: adapter, key: key.text, keyPlace: app.diagnostics.place(of: key.node),
                lifetime: seconds, identity: identity ?? .reported, proof: proof?.choice ?? .none, topics: topics,
                spread: spread ?? 0, missingUser: missingUser ?? .deadLetter,
                publishWindow: (publishWindow ?? Configuration.App.standardPublishWindow).components.seconds,
                seal: seal, publication: publication,
                missingFacts: missingFacts(registration, app), settings: registration.settings, lookup: lookup),
            written: written)
    }

    private func missingFacts(_ registration: AdapterRegistry.Registration, _ app: Section) -> [Diagnostic] {
        let place = app.diagnostics.place(of: app.value("adapter"))
        return registration.missingFacts.map {
            Diagnostic(.warning, at: place, "a fact of \(registration.vendor) is missing: \($0)")
        }
    }

    /// Reads the further consumers of the app's tokens.
    private func publication(_ app: Section) -> TokenPublication {
        guard let (publication, node) = app.choice("publish", TokenPublication.self) else { return .none }
        if publication != .none, app.value("seal") != nil {
            app.diagnostics.warning(
                node,
                "\(app.path("publish")) hands devices what \(app.path("seal")) keeps from them: they cannot open it; remove one of the two"
            )
        }
        return publication
    }

    /// Topics of the app's own, each by its name.
    private func topics(_ app: Section) -> [String] {
        guard let node = app.value("topics") else { return [] }
        let names = node.sequence?.compactMap { $0.scalar?.string } ?? []
        guard let entries = node.sequence, Configuration.App.topicCount ~= entries.count, names.count == entries.count,
            names.allSatisfy(TopicName.isValid), Set(names).count == names.count
        else {
            app.diagnostics.error(
                node, "\(app.path("topics")) must be a list of up to 16 different topics, such as [shop.auth-failures]")
            return []
        }
        return names
    }

    private func registration(_ app: Section) -> AdapterRegistry.Registration? {
        guard let (name, node) = app.requiredText(Configuration.App.adapterKey) else { return nil }
        if name.contains("/") || name.hasSuffix(".yaml") || name.hasSuffix(".yml") { return declared(name, node, app) }
        if let registration = registry[name] { return registration }
        let known = registry.registrations.map(\.name)
        let meant =
            Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
            ?? "known: \(known.joined(separator: ", "))"
        app.diagnostics.error(node, "no adapter is called \(app.diagnostics.quote(name, node)); \(meant)")
        return nil
    }

    /// Returns the vendor in the file `path`. Errors of the file are reported at their places in it.
    private func declared(_ path: String, _ node: Node, _ app: Section) -> AdapterRegistry.Registration? {
        let file = app.diagnostics.resolve(path)
        guard let text = source.file(file) else {
            app.diagnostics.error(
                node, "the file of \(app.path("adapter")) cannot be read; fix the path or create the file")
            return nil
        }
        let (vendor, found) = DeclaredVendor.load(text, file: file)
        for diagnostic in found where diagnostic.severity == .error { app.diagnostics.append(diagnostic) }
        guard let vendor else {
            app.diagnostics.error(
                node, "the file of \(app.path("adapter")) cannot be used; fix the errors that are reported in it")
            return nil
        }
        return vendor.registration
    }

    private func key(_ app: Section) -> (text: String, node: Node)? {
        guard let (name, node) = app.requiredText(Configuration.App.keyKey) else { return nil }
        guard keys.contains(name) else {
            let known = keys.isEmpty ? "it has none; write the ring there" : "known: \(keys.joined(separator: ", "))"
            let meant = Spelling.nearest(to: name, among: keys).map { "did you mean \($0)?" } ?? known
            app.diagnostics.error(node, "keys has no key ring called \(app.diagnostics.quote(name, node)); \(meant)")
            return nil
        }
        return (name, node)
    }

    private func seconds(of lifetime: Duration?, _ adapter: any Adapter, _ app: Section) -> Int64 {
        guard let lifetime else { return adapter.lifetime.standard }
        let allowed = adapter.lifetime.allowed
        let seconds = lifetime.components.seconds
        if !allowed.contains(seconds) || lifetime.components.attoseconds != 0 {
            let least = DurationText.format(seconds: allowed.lowerBound),
                most = DurationText.format(seconds: allowed.upperBound)
            app.diagnostics.error(app.value("lifetime"), "tokens of \(adapter.vendor) live from \(least) to \(most)")
        }
        return seconds
    }

    // MARK: Settings

    private func adapter(_ registration: AdapterRegistry.Registration, _ node: Node?, _ app: Section) -> (any Adapter)?
    {
        let settings = Section(node, name: app.path("settings"), app.diagnostics)
        var isComplete = node == nil || node?.mapping != nil
        for key in registration.settings {
            if settings.value(key.name) == nil, key.isRequired {
                app.diagnostics.error(node ?? app.node, "\(settings.path(key.name)) is missing: \(key.summary)")
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
            // A key that no adapter of this name has was told already.
            guard error.key.isEmpty || registration.settings.contains(where: { $0.name == error.key }) else {
                return nil
            }
            app.diagnostics.error(settings.value(error.key) ?? node, "\(settings.path(error.key)) \(error.message)")
        } catch let error as DecodingError {
            let key = error.codingPath.first
            app.diagnostics.error(
                key.flatMap(settings.value) ?? node,
                "\(key.map(settings.path) ?? "settings") has the wrong type\(hint(registration, key))")
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
    /// The path to the value that did not decode.
    fileprivate var codingPath: [String] {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.map(\.stringValue)
        case .keyNotFound(let key, let context): context.codingPath.map(\.stringValue) + [key.stringValue]
        @unknown default: []
        }
    }
}
