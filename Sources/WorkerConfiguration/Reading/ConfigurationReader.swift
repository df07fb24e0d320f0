public import AdapterKit
import Yams

/// Reads `remint.yaml`: everything that is wrong is found in one go, each with its place.
public struct ConfigurationReader {
    private let registry: AdapterRegistry
    private let source: ConfigurationSource

    /// A reader that knows the adapters of `registry`.
    public init(registry: AdapterRegistry, source: ConfigurationSource) {
        self.registry = registry
        self.source = source
    }

    /// The configuration in `file`, where nothing is wrong with it, and what there is to say about it.
    public func read(_ file: String) -> (configuration: Configuration?, diagnostics: [Diagnostic]) {
        let diagnostics = Diagnostics(file: file)
        guard let text = source.file(file) else {
            diagnostics.error(nil, "cannot be read; name an existing file with --config")
            return (nil, diagnostics.all)
        }
        let configuration = parse(text, diagnostics).map { root in
            var configuration = Configuration()
            var expansion = Expansion(
                environment: source.environment, diagnostics: diagnostics, budget: text.utf8.count)
            let expanded = expansion.expand(root)
            read(Section(expanded, name: "", diagnostics), into: &configuration)
            return configuration
        }
        let isUsable = !diagnostics.all.contains { $0.severity == .error }
        return (isUsable ? configuration : nil, diagnostics.all)
    }

    private func parse(_ text: String, _ diagnostics: Diagnostics) -> Node? {
        do {
            if let root = try Yams.compose(yaml: text) { return root }
            diagnostics.error(nil, "the file is empty; config/remint.yaml shows every key")
        } catch let error as YamlError {
            diagnostics.syntax(error)
        } catch {
            diagnostics.error(nil, "not YAML")
        }
        return nil
    }

    private func read(_ root: Section, into configuration: inout Configuration) {
        KafkaReader(source: source).read(root.section("kafka"), into: &configuration.kafka)
        readDelivery(root, into: &configuration)
        readTopics(root.section("topics"), into: &configuration.topics)
        let keys = root.section("keys")
        configuration.keys = readKeys(keys)
        configuration.apps = AppsReader(registry: registry, keys: keys.all.map(\.name)).read(
            root.section("apps"))
        readWorker(root.section("worker"), into: &configuration.worker)
        readLog(root.section("log"), into: &configuration.log)
        let admin = root.section("admin")
        if let (_, node) = admin.text("listen") { root.diagnostics.ineffective(node, "admin.listen") }
        admin.finish()
        root.finish()
    }

    // MARK: Sections

    private func readDelivery(_ root: Section, into configuration: inout Configuration) {
        guard let (delivery, node) = root.choice("delivery", Configuration.Delivery.self) else { return }
        configuration.delivery = delivery
        guard delivery == .exactlyOnce else { return }
        root.diagnostics.error(
            node,
            configuration.kafka.isEmbedded
                ? "the embedded broker keeps no transactions, so exactly_once cannot be kept; write at_least_once"
                : "this release delivers at least once and does not claim more; write at_least_once")
    }

    private func readTopics(_ section: Section, into topics: inout Configuration.Topics) {
        var names: [(name: String, node: Node)] = []
        func rename(_ key: String, _ topic: inout String) {
            guard let (text, node) = section.requiredTextIfPresent(key) else { return }
            topic = text
            names.append((text, node))
        }
        rename("invalidations", &topics.invalidations)
        rename("invalidations_bulk", &topics.invalidationsBulk)
        rename("tokens", &topics.tokens)
        rename("dead_letters", &topics.deadLetters)
        for (name, node) in names {
            if [".", ".."].contains(name) || name.utf8.count > 249
                || !name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) })
            {
                section.diagnostics.error(
                    node, "a topic's name has up to 249 letters, digits, dots, underscores and hyphens")
            }
            if (topics.inputs + topics.outputs).count(where: { $0 == name }) > 1 {
                section.diagnostics.error(
                    node,
                    "two topics share the name \(section.diagnostics.quote(name, node)); the worker would feed itself")
            }
        }
        section.finish()
    }

    private func readKeys(_ section: Section) -> [Configuration.Key] {
        section.all.compactMap { _, name, value in
            let key = Section(value, name: section.path(name), section.diagnostics)
            defer { key.finish() }
            guard let (path, node) = key.requiredText("path") else { return nil }
            return Configuration.Key(
                name: name, path: section.diagnostics.resolve(path), place: section.diagnostics.place(of: node))
        }
    }

    private func readWorker(_ section: Section, into worker: inout Configuration.Worker) {
        let batch = section.section("batch")
        if let events = batch.integer("events", in: 1...100_000) { worker.batchEvents = events }
        if let linger = batch.duration("linger", in: .milliseconds(1)...(.seconds(10))) { worker.batchLinger = linger }
        batch.finish()
        if let bytes = section.integer("max_event_bytes", in: 1024...(64 << 20)) { worker.maximumEventBytes = bytes }
        if let deadline = section.duration("shutdown_deadline", in: .seconds(1)...(.seconds(600))) {
            worker.shutdownDeadline = deadline
        }
        for name in ["bulk_share", "retries"] {
            if section.value(name) != nil { section.diagnostics.ineffective(section.key(name), section.path(name)) }
        }
        section.finish()
    }

    private func readLog(_ section: Section, into log: inout Configuration.Log) {
        if let (level, node) = section.text("level") {
            if Configuration.Log.levels.contains(level) {
                log.level = level
            } else {
                section.diagnostics.error(
                    node, "log.level must be one of \(Configuration.Log.levels.joined(separator: ", "))")
            }
        }
        if let (format, _) = section.choice("format", Configuration.Log.Format.self) { log.format = format }
        section.finish()
    }
}

extension Section {
    /// A text that may be absent and must not be empty.
    func requiredTextIfPresent(_ name: String) -> (text: String, node: Node)? {
        value(name) == nil ? nil : requiredText(name)
    }
}

extension Diagnostics {
    /// Paths are relative to the file they stand in.
    func resolve(_ path: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return file[...slash] + path
    }

    /// A key of the format that this release reads past.
    func ineffective(_ node: Node?, _ path: String) { warning(node, "\(path) has no effect in this release") }

    /// YAML that is none.
    func syntax(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            append(line: mark.line, column: mark.column, "not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            append(
                line: context.mark.line, column: context.mark.column,
                "a key stands twice: \(duplicates.map { "\($0)" }.joined(separator: ", "))")
        case .reader(let problem, let offset, _, let yaml):
            let lines = yaml.prefix(offset ?? 0).split(omittingEmptySubsequences: false) { $0.isNewline }
            append(line: lines.count, column: (lines.last?.count ?? 0) + 1, "not YAML: \(problem)")
        default: append(line: 1, column: 1, "not YAML")
        }
    }
}
