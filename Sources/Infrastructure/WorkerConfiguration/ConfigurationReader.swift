package import AdapterKit
import Formats
package import YAMLReading
import Yams

/// Reads `remint.yaml`: everything that is wrong is found in one go, each with its place.
public struct ConfigurationReader {
    private let registry: AdapterRegistry
    let source: ConfigurationSource

    package init(registry: AdapterRegistry, source: ConfigurationSource) {
        self.registry = registry
        self.source = source
    }

    /// Reads the configuration in `file`; nil where it has errors. The diagnostics are errors, warnings and notices.
    package func read(_ file: String) -> (configuration: Configuration?, diagnostics: [Diagnostic]) {
        let found = readNoting(file)
        return (found.configuration, found.diagnostics)
    }

    /// Reads the configuration like `read`, and returns the files that were read or looked for, as they were just
    /// before; nil for a missing file.
    package func readNoting(
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
    package func effective(_ file: String) -> (configuration: EffectiveConfiguration?, diagnostics: [Diagnostic]) {
        let diagnostics = Diagnostics(file: file)
        guard let found = draft(diagnostics, FileNotes()), !diagnostics.hasErrors else { return (nil, diagnostics.all) }
        return (EffectiveConfiguration(found.draft, as: found.root, diagnostics), diagnostics.all)
    }

    /// Returns what can be read of the configuration, and the file's tree, completed from the environment; nil where
    /// there is no tree.
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
        configuration.kafka = Configuration.Kafka(reading: root.section(Configuration.Kafka.section), source)
        readDelivery(root, into: &configuration)
        let topics = root.section(Configuration.Topics.section)
        let keys = root.section(Configuration.Key.section)
        configuration.keys = Configuration.Key.read(keys)
        let apps = root.section(Configuration.App.section)
        configuration.apps = AppsReader(
            registry: registry, source: source, keys: keys.all.map(\.name), notes: notes
        ).read(apps)
        configuration.worker = Configuration.Worker(reading: root.section(Configuration.Worker.section))
        Configuration.Topics.read(topics, into: &configuration)
        root.readSection(into: &configuration.log)
        let (admin, pickup) = (root.section(Configuration.Admin.section), root.section(Configuration.Pickup.section))
        configuration.admin = Configuration.Admin(reading: admin, source)
        configuration.pickup = Configuration.Pickup(reading: pickup, in: root, apps: apps.all.map(\.name))
        ListenAddresses.check(configuration, admin: admin, pickup: pickup)
        configuration.telemetry = Configuration.Telemetry(
            reading: root.section(Configuration.Telemetry.section), source)
        // The section is known here, and read by the command that runs the tests.
        _ = root.value(of: Configuration.Tests.section)
        root.finish()
    }

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
}

// A configuration as its tests see it: apps, keys and lanes, without brokers and servers, whose secrets are not where tests run.

extension ConfigurationReader {
    /// Returns the configuration in `file` without its connections and servers, where the rest has no errors, and its
    /// tests.
    ///
    /// A missing secret's file counts as a file with some secret, because no test asks a vendor.
    package func tested(_ file: String) -> (configuration: Configuration?, tests: Section?, diagnostics: Diagnostics) {
        let diagnostics = Diagnostics(file: file)
        guard let (root, text) = tree(diagnostics) else { return (nil, nil, diagnostics) }
        let name = Configuration.Tests.section.name
        let offline = root.without([Configuration.Admin.section.name, Configuration.Pickup.section.name, name])
            .replacing(Configuration.Kafka.section.name, with: Self.anyBroker)
        let draft = draft(in: expand(offline, of: text, diagnostics), diagnostics, FileNotes())
        let configuration = diagnostics.hasErrors ? nil : draft
        let tests = section(name, of: root, text, diagnostics)
        return (configuration, tests, diagnostics)
    }

    /// Returns the tests in `file`, which contains nothing else; nil where it has errors.
    package func tests(_ file: String) -> (tests: Section?, diagnostics: Diagnostics) {
        let diagnostics = Diagnostics(file: file)
        guard let (root, text) = tree(diagnostics) else { return (nil, diagnostics) }
        let top = Section(root, name: "", diagnostics)
        let name = Configuration.Tests.section.name
        if top.value(name) == nil {
            diagnostics.error(nil, "the file has no tests; write them under \(name):")
        }
        top.finish()
        return (section(name, of: root, text, diagnostics), diagnostics)
    }

    /// Returns a source that finds every secret; it invents those with missing files.
    package static func withoutSecrets(_ source: ConfigurationSource, exists: @escaping @Sendable (String) -> Bool)
        -> ConfigurationSource
    {
        var lenient = source
        lenient.secret = { path in
            exists(path) ? source.secret(path) : .contents(SecretBytes(copying: "not-here".utf8))
        }
        return lenient
    }

    private func tree(_ diagnostics: Diagnostics) -> (root: Node, text: String)? {
        switch source.file(diagnostics.file) {
        case .contents(let text): return parse(text, diagnostics).map { ($0, text) }
        case .refused(let reason):
            diagnostics.error(nil, reason)
            return nil
        }
    }

    private func section(_ name: String, of root: Node, _ text: String, _ diagnostics: Diagnostics) -> Section? {
        guard let (key, node) = root.mapping?.first(where: { $0.key.scalar?.string == name }), node.null == nil else {
            return nil
        }
        return Section(expand(node, of: text, diagnostics), at: key, name: name, diagnostics)
    }

    /// Connections are not tested.
    private static var anyBroker: Node {
        [Node(Configuration.Kafka.serversKey.name): Node(Configuration.Kafka().bootstrapServers)]
    }
}

extension Node {
    /// Returns the mapping without the keys `names`; any other node as it is.
    func without(_ names: Set<String>) -> Node {
        guard case .mapping(let mapping) = self else { return self }
        let pairs = mapping.filter { key, _ in key.scalar.map { !names.contains($0.string) } ?? true }
        return .mapping(Node.Mapping(pairs.map { ($0.key, $0.value) }, mapping.tag, mapping.style, mapping.mark))
    }

    fileprivate func replacing(_ name: String, with value: Node) -> Node {
        guard case .mapping(var mapping) = self else { return self }
        for index in mapping.indices where mapping[index].key.scalar?.string == name {
            mapping[index] = (mapping[index].key, value)
        }
        return .mapping(mapping)
    }
}
