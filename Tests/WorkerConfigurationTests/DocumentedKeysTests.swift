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

/// `config/remint.yaml` says every key, and its defaults.
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

    @Test func `every key the reader asks for is declared`() throws {
        let readers = try Repository.files(under: "Sources/WorkerConfiguration/Reading", ending: "swift").map {
            try String(contentsOf: $0, encoding: .utf8)
        }
        let calls =
            /\.(?:section|value|text|requiredText|requiredTextIfPresent|integer|number|share|bytes|bool|duration|choice|endpoint|rate)\(\s*"([a-z_]+)"/
        let asked = Set(readers.flatMap { $0.matches(of: calls).map { String($0.1) } })
        #expect(asked.count > 30)
        let declared = names(in: Configuration.sections)
        #expect(asked.subtracting(declared).isEmpty, "not declared: \(asked.subtracting(declared).sorted())")
    }

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
