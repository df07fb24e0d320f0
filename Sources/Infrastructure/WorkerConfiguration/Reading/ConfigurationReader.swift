public import AdapterKit
import Formats
import Yams

/// Reads `remint.yaml`: everything that is wrong is found in one go, each with its place.
public struct ConfigurationReader {
    private let registry: AdapterRegistry
    let source: ConfigurationSource

    /// A reader that knows the adapters of `registry`.
    package init(registry: AdapterRegistry, source: ConfigurationSource) {
        self.registry = registry
        self.source = source
    }

    /// Reads the configuration in `file`; nil where it has errors. The diagnostics are errors, warnings and notices.
    public func read(_ file: String) -> (configuration: Configuration?, diagnostics: [Diagnostic]) {
        let found = readNoting(file)
        return (found.configuration, found.diagnostics)
    }

    /// Reads the configuration like `read`, and returns the files that were read or looked for, as they were just
    /// before; nil for a missing file.
    public func readNoting(
        _ file: String
    ) -> (configuration: Configuration?, diagnostics: [Diagnostic], files: [String: FileRevision?]) {
        let found = readDraft(file)
        return (found.isWhole ? found.draft : nil, found.diagnostics, found.files)
    }

    /// Reads the configuration like `readNoting`, and returns also what can be read of one with errors, so that its
    /// independent parts can be checked as well.
    package func readDraft(
        _ file: String
    ) -> (draft: Configuration?, isWhole: Bool, diagnostics: [Diagnostic], files: [String: FileRevision?]) {
        let diagnostics = Diagnostics(file: file), notes = FileNotes()
        let found = draft(diagnostics, notes)
        return (found?.draft, !diagnostics.hasErrors, diagnostics.all, notes.files)
    }

    /// Returns the effective configuration of `file`, and the errors and warnings found in it. The configuration is nil
    /// if there is an error.
    public func effective(_ file: String) -> (configuration: EffectiveConfiguration?, diagnostics: [Diagnostic]) {
        let diagnostics = Diagnostics(file: file)
        let effective = read(diagnostics, FileNotes()).map {
            EffectiveConfiguration($0.configuration, as: $0.root, diagnostics)
        }
        return (effective, diagnostics.all)
    }

    /// Returns the configuration, and the file's tree, completed from the environment; nil where there are errors.
    private func read(
        _ diagnostics: Diagnostics, _ notes: FileNotes
    ) -> (configuration: Configuration, root: Node)? {
        guard let found = draft(diagnostics, notes), !diagnostics.hasErrors else { return nil }
        return (found.draft, found.root)
    }

    /// Returns the configuration and the tree like `read`, also where there are errors; nil where there is no tree.
    private func draft(_ diagnostics: Diagnostics, _ notes: FileNotes) -> (draft: Configuration, root: Node)? {
        notes.look(at: diagnostics.file)
        let text: String
        switch source.file(diagnostics.file) {
        case .contents(let contents): text = contents
        case .refused(let reason):
            let isThere = notes.files[diagnostics.file].flatMap(\.self) != nil
            diagnostics.error(nil, isThere ? reason : "no such file; name one with --config")
            return nil
        }
        guard let root = parse(text, diagnostics) else { return nil }
        let expanded = expand(root.without([Configuration.Tests.section.name]), of: text, diagnostics)
        return (draft(in: expanded, diagnostics, notes), expanded)
    }

    /// Returns `node` of the file `text`, completed from the environment.
    func expand(_ node: Node, of text: String, _ diagnostics: Diagnostics) -> Node {
        var expansion = Expansion(environment: source.environment, diagnostics: diagnostics, budget: text.utf8.count)
        return expansion.expand(node)
    }

    /// Returns the configuration in the tree `root`; nil where there are errors.
    func configuration(
        in root: Node, _ diagnostics: Diagnostics, _ notes: FileNotes = FileNotes()
    ) -> Configuration? {
        let configuration = draft(in: root, diagnostics, notes)
        return diagnostics.hasErrors ? nil : configuration
    }

    private func draft(in root: Node, _ diagnostics: Diagnostics, _ notes: FileNotes) -> Configuration {
        var configuration = Configuration()
        let section = Section(root, name: "", diagnostics)
        if !diagnostics.isRefused(root) { read(section, into: &configuration, notes) }
        configuration.written = WrittenKeys(root, of: Configuration.sections)
        return configuration
    }

    func parse(_ text: String, _ diagnostics: Diagnostics) -> Node? {
        YAMLText.root(
            of: text, largest: ConfigurationSource.largestFile, sample: "config/remint.yaml shows every key",
            diagnostics)
    }

    private func read(_ root: Section, into configuration: inout Configuration, _ notes: FileNotes) {
        KafkaReader(source: source).read(root.section(Configuration.Kafka.section), into: &configuration.kafka)
        readDelivery(root, into: &configuration)
        let topics = root.section(Configuration.Topics.section)
        let keys = root.section(Configuration.Key.section)
        configuration.keys = readKeys(keys)
        RingFolders.refuseSharedOnes(configuration.keys, keys.diagnostics)
        let apps = root.section(Configuration.App.section)
        configuration.apps = AppsReader(
            registry: registry, source: source, keys: keys.all.map(\.name), notes: notes
        ).read(apps)
        WorkerReader().read(root.section(Configuration.Worker.section), into: &configuration.worker)
        // After the worker's, for the tiers are part of topics' names.
        readTopics(topics, into: &configuration)
        readLog(root.section(Configuration.Log.section), into: &configuration.log)
        let (admin, pickup) = (root.section(Configuration.Admin.section), root.section(Configuration.Pickup.section))
        configuration.admin = AdminReader(source: source).read(admin)
        configuration.pickup = PickupReader(apps: apps.all.map(\.name)).read(
            pickup, isThere: root.key(of: Configuration.Pickup.section) != nil)
        ListenAddresses.check(configuration, admin: admin, pickup: pickup)
        TelemetryReader(source: source).read(
            root.section(Configuration.Telemetry.section), into: &configuration.telemetry)
        // The section is known here, and read by the command that runs the tests.
        _ = root.value(of: Configuration.Tests.section)
        root.finish()
    }

    // MARK: Sections

    private func readDelivery(_ root: Section, into configuration: inout Configuration) {
        let isEmbedded = configuration.kafka.isEmbedded
        if isEmbedded { configuration.delivery = .atLeastOnce }
        guard let (delivery, node) = root.placed(Configuration.deliveryKey) else { return }
        guard delivery == .atLeastOnce || !isEmbedded else {
            root.diagnostics.error(
                node, "the embedded broker keeps no transactions, so exactly_once cannot be kept; write at_least_once")
            return
        }
        configuration.delivery = delivery
    }

    private func readTopics(_ section: Section, into configuration: inout Configuration) {
        var names: [(topics: [String], node: Node)] = []
        section.read(Configuration.Topics.settings, into: &configuration.topics)
        for key in Configuration.Topics.settings {
            guard let node = section.value(of: key), let text = node.scalar?.string, !text.isEmpty else { continue }
            let isPrefix = key.name == Configuration.Topics.retries.name
            names.append((isPrefix ? configuration.retryTopics : [text], node))
        }
        let all = configuration.allTopics + [configuration.topics.control, configuration.topics.parkedLetters]
        for (topics, node) in names {
            if !topics.allSatisfy(TopicName.isValid) {
                section.diagnostics.error(
                    node, "a topic's name has up to 249 letters, digits, dots, underscores and hyphens")
            }
            if let shared = topics.first(where: { topic in all.count { $0 == topic } > 1 }) {
                section.diagnostics.error(
                    node,
                    "two topics share the name \(section.diagnostics.quote(shared, node)); the worker would feed itself: give each its own"
                )
            }
        }
        checkAppTopics(configuration, section.diagnostics)
        section.finish()
    }

    /// Requires that an app's own topics are none of the worker's; otherwise the worker would consume its own output.
    private func checkAppTopics(_ configuration: Configuration, _ diagnostics: Diagnostics) {
        let own = configuration.topics
        let taken = Set(
            [own.invalidations, own.invalidationsBulk, own.tokens, own.deadLetters, own.parkedLetters, own.control]
                + configuration.retryTopics)
        for app in configuration.apps where app.topics.contains(where: taken.contains) {
            diagnostics.error(
                at: app.keyPlace, "apps.\(app.name).topics names a topic of the worker's own; choose other ones")
        }
    }

    private func readKeys(_ section: Section) -> [Configuration.Key] {
        section.all.compactMap { place, name, value in
            checkRingName(name, place, section.diagnostics)
            let key = Section(value, at: place, name: section.path(name), section.diagnostics)
            defer { key.finish() }
            let signer = key.placed(Configuration.Key.signerKey)
            guard signer != nil || key.value(of: Configuration.Key.signerKey) == nil else { return nil }
            if let (_, node) = signer, key.value(of: Configuration.Key.pathKey) != nil {
                section.diagnostics.error(
                    node,
                    "\(key.name) has both path and signer; a ring is read from its folder or held by a signer: remove one of them"
                )
            }
            let policy = PolicyReader(key: key).read()
            if let (_, node) = signer, key.value(of: Configuration.SigningPolicy.section) != nil {
                section.diagnostics.error(
                    node, "\(key.name) has both policy and signer; the signer keeps it: write it into its configuration"
                )
            }
            guard let (path, node) = signer ?? key.placed(Configuration.Key.pathKey),
                !section.diagnostics.isRefused(node)
            else { return nil }
            let resolved = section.diagnostics.resolve(path)
            return Configuration.Key(
                name: name, path: signer == nil ? resolved : nil, signer: signer == nil ? nil : resolved,
                place: section.diagnostics.place(of: node), policy: policy)
        }
    }

    /// Refuses a name that cannot be printed, and warns about one that a command line or a metric must quote. Records and the ledger
    /// repeat a ring's name, so such a ring goes on under it.
    private func checkRingName(_ name: String, _ place: Node, _ diagnostics: Diagnostics) {
        guard let flaw = PlainName.flaw(of: name) else { return }
        let quoted = PlainName.quote(name)
        guard !name.isEmpty, name.utf8.count <= PlainName.longest, !PlainName.hasControls(name) else {
            diagnostics.error(
                place,
                "\(quoted) cannot be a key ring's name: it \(flaw); rename it here and in apps.*.key (\(PlainName.rule))"
            )
            return
        }
        diagnostics.warning(
            place,
            "\(quoted) is an unsafe name for a key ring: it \(flaw); give a new ring another name (\(PlainName.rule))")
    }

    private func readLog(_ section: Section, into log: inout Configuration.Log) {
        section.read(Configuration.Log.settings, into: &log)
        section.finish()
    }
}

extension Section {
    /// Returns the text of a secret's file, without the end of its last line.
    ///
    /// - Parameters:
    ///   - path: The path, as the configuration names it.
    ///   - node: The place in the configuration that names it.
    ///   - name: The name of the key in messages.
    func secret(ofFile path: String, _ node: Node, named name: String, _ source: ConfigurationSource) -> String? {
        switch source.secret(diagnostics.resolve(path)) {
        case .contents(let secret):
            if let text = secret.withBytes({ String(validating: $0, as: UTF8.self) }) {
                return Self.withoutLineEnd(text)
            }
            diagnostics.error(node, "the file of \(name) is not UTF-8 text")
        case .refused(let reason): diagnostics.error(node, "the file of \(name) \(reason)")
        }
        return nil
    }

    /// Returns the text of a file that holds no secret, without the end of its last line; see `secret`.
    func contents(ofFile path: String, _ node: Node, named name: String, _ source: ConfigurationSource) -> String? {
        text(ofFile: path, node, named: name, source).map(Self.withoutLineEnd)
    }

    /// Returns the text of a file on which trust rests; nil after reporting why it must not be used.
    func text(ofFile path: String, _ node: Node?, named name: String, _ source: ConfigurationSource) -> String? {
        switch source.file(diagnostics.resolve(path)) {
        case .contents(let text): return text
        case .refused(let reason):
            diagnostics.error(node, "the file of \(name) \(reason)")
            return nil
        }
    }

    private static func withoutLineEnd(_ text: String) -> String {
        text.last?.isNewline == true ? String(text.dropLast()) : text
    }
}
