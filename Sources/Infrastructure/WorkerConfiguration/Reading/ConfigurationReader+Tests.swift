import AdapterKit
package import YAMLReading
import Yams

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
        let configuration = configuration(in: expand(offline, of: text, diagnostics), diagnostics)
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

    /// Returns the mapping with `value` for the key `name`, where it has that key.
    fileprivate func replacing(_ name: String, with value: Node) -> Node {
        guard case .mapping(var mapping) = self else { return self }
        for index in mapping.indices where mapping[index].key.scalar?.string == name {
            mapping[index] = (mapping[index].key, value)
        }
        return .mapping(mapping)
    }
}
