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

    @Test func `every key the reader asks for is in the file`() throws {
        let documented = try text("config/remint.yaml")
        let readers = try Repository.files(under: "Sources/WorkerConfiguration/Reading", ending: "swift").map {
            try String(contentsOf: $0, encoding: .utf8)
        }
        let calls =
            /\.(?:section|value|text|requiredText|integer|number|share|bytes|bool|duration|choice)\(\s*"([a-z_]+)"/
        let keys = Set(readers.flatMap { $0.matches(of: calls).map { String($0.1) } })
        #expect(keys.count > 50)
        for key in keys.sorted() {
            let isThere = documented.firstMatch(of: try Regex("(?:^|[\\s#{,])\(key):").anchorsMatchLineEndings()) != nil
            #expect(isThere, "config/remint.yaml lacks \(key)")
        }
    }

    @Test func `what it says of the worker, the topics, delivery and the log are the defaults`() throws {
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
