import AdapterKit
import BloomreachAdapter
import BrazeAdapter
import DotdigitalAdapter
import Foundation
import InfobipAdapter
import OneSignalAdapter
import ProgramTestSupport
import Testing
import WorkerConfiguration

/// `config/remint.yaml` lists every key, and its defaults.
@Suite struct DocumentedKeysTests {
    private static let registry = AdapterRegistry([
        .init(BrazeAdapter.self), .init(OneSignalAdapter.self), .init(BloomreachAdapter.self),
        .init(DotdigitalAdapter.self), .init(InfobipAdapter.self),
    ])

    private func text(_ file: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
    }

    @Test func `config/remint.yaml is what the declarations of the keys generate`() throws {
        #expect(
            try text("config/remint.yaml") == SampleConfiguration(registry: Self.registry).text,
            "replace it: remint config sample > config/remint.yaml")
    }

    @Test func `the page and the help list every property that the worker sets itself`() throws {
        let names = Configuration.Kafka.ownProperties
        #expect(names == names.sorted())
        let list = names.map { "`\($0)`" }.joined(separator: ", ")
        let page = try text("config/README.md").replacing("\n", with: " ")
        #expect(page.contains("worker sets them itself: \(list)."))
        let help = try text("config/remint.schema.json")
        #expect(help.contains("itself: \(names.joined(separator: ", "))."))
    }

    /// The readers of `remint.yaml` and of vendors' files.
    @Test func `no reader names a key by a string literal`() throws {
        let folders = [
            "Infrastructure/WorkerConfiguration", "Testing/WorkerTesting/Reading", "Rules/DeclaredAdapters/Reading",
        ]
        let calls =
            /\b[a-z]\w*\.(?:section|value|key|path|text|texts|requiredText|requiredTextIfPresent|integer|number|share|bytes|bool|duration|choice|word|json|time|endpoint|rate|certificate)\(\s*"[a-z_]+"/
        for file in files(in: folders) {
            let asked = try String(contentsOf: file, encoding: .utf8).matches(of: calls).map { String($0.0) }
            #expect(asked.isEmpty, "\(file.lastPathComponent) reads \(asked); read the key's declaration")
        }
    }

    @Test func `no reader of the configuration contains a key's name`() throws {
        let folders = [
            "Infrastructure/WorkerConfiguration/Effective", "Infrastructure/WorkerConfiguration/Reloading",
            "Testing/WorkerTesting/Reading",
        ]
        let declared = names(in: Configuration.sections)
        #expect(declared.count > 100)
        for file in files(in: folders) {
            let text = try String(contentsOf: file, encoding: .utf8)
            // A key's full name, such as worker.batch.events, is made of declared names.
            let written = text.matches(of: /"([a-z_]+(?:\.[a-z_]+)*)"/).map { String($0.1) }.filter { word in
                word.split(separator: ".").allSatisfy { declared.contains(String($0)) }
            }
            let excused = Self.literals[file.lastPathComponent] ?? []
            #expect(
                Set(written).isSubset(of: excused), "\(file.lastPathComponent) names \(written); use the declaration")
        }
    }

    private func files(in folders: [String]) -> [URL] {
        folders.flatMap { folder in
            let files = Repository.files(under: "Sources/\(folder)", ending: "swift")
            #expect(!files.isEmpty, "\(folder)")
            return files
        }
    }

    /// The words that are a key's name in another place and mean something else in these files.
    private static let literals: [String: Set<String>] = [
        // The parts of librdkafka's property names that may hold a secret.
        "EffectiveConfiguration.swift": ["password"],
        // The members of an event's envelope, which are the product's format.
        "EventReader.swift": ["app", "vouched", "device", "id", "observed_at"],
    ]

    private func names(in sections: [SectionDescription]) -> Set<String> {
        sections.reduce(into: []) { all, section in
            all.insert(section.name)
            all.formUnion(section.keys.map(\.name))
            all.formUnion(names(in: section.sections))
        }
    }

    @Test func `the documented values of worker, topics, delivery and log are the defaults`() throws {
        let written = try text("config/remint.yaml")
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "remint.yaml" ? written : nil })
        let (found, diagnostics) = ConfigurationReader(registry: Self.registry, source: source).read("remint.yaml")
        let configuration = try #require(found, "\(diagnostics)")
        let defaults = Configuration()
        #expect("\(configuration.worker)" == "\(defaults.worker)")
        #expect("\(configuration.topics)" == "\(defaults.topics)")
        #expect("\(configuration.log)" == "\(defaults.log)")
        #expect(configuration.delivery == defaults.delivery)
        #expect(configuration.kafka.group == defaults.kafka.group)
        #expect(configuration.kafka.bootstrapServers == defaults.kafka.bootstrapServers)
        for app in configuration.apps where app.name != "shop-ios" {
            #expect(app.lifetime == app.adapter.lifetime.standard, "\(app.name)")
        }
    }
}
