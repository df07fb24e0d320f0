import AdapterKit
import Formats
import Foundation
import ProgramTestSupport
import Testing
import Vendors
import WorkerConfiguration

/// `config/remint.schema.json`: what editors know of the configuration.
@Suite("The configuration's schema")
struct SchemaTests {
    private static let text = ConfigurationSchema(registry: .remint).text

    private func root() throws -> JSONValue { try JSONDocument(parsing: Array(Self.text.utf8)).root }

    @Test func `config/remint.schema.json is what the declarations of the keys generate`() throws {
        let file = Repository.root.appending(path: "config/remint.schema.json")
        #expect(
            try String(contentsOf: file, encoding: .utf8) == Self.text,
            "replace it: remint config schema > config/remint.schema.json")
    }

    @Test func `the schema has every key and section with its meaning, and no other`() throws {
        let root = try root()
        #expect(root["additionalProperties"]?.bool == false)
        let top = Configuration.sections.filter { !$0.name.isEmpty }
        let keys = Configuration.sections.filter { $0.name.isEmpty }.flatMap(\.keys)
        try check(keys, top, root)
        #expect(root["required"]?.elements.compactMap(\.string) == ["kafka", "keys", "apps"])
    }

    private func check(_ keys: [KeyDescription], _ sections: [SectionDescription], _ schema: JSONValue) throws {
        let properties = try #require(schema["properties"])
        #expect(properties.members.map(\.name) == keys.map(\.name) + sections.map(\.name))
        #expect(schema["additionalProperties"]?.bool == false)
        for key in keys { check(key, try #require(properties[key.name])) }
        for section in sections {
            let inner = try #require(properties[section.name])
            guard let each = section.sections.first, each.name == "*" else {
                try check(section.keys, section.sections, inner)
                continue
            }
            try check(each.keys, each.sections, try #require(inner["additionalProperties"]))
        }
    }

    private func check(_ key: KeyDescription, _ schema: JSONValue) {
        #expect(schema["description"]?.string?.hasPrefix(key.summary) == true, "\(key.name)")
        #expect((schema["default"] != nil) == (key.standard != nil), "\(key.name)")
        #expect((schema["writeOnly"]?.bool == true) == key.isSecret, "\(key.name)")
        if let bounds = key.form.bounds { #expect(schema["description"]?.string?.contains(bounds) == true) }
        switch key.form {
        case .integer(let range):
            #expect(schema["anyOf"]?.elements.first?["minimum"]?.integer == Int64(range.lowerBound))
            #expect(schema["anyOf"]?.elements.first?["maximum"]?.integer == Int64(range.upperBound))
        case .choice(let words):
            #expect(schema["anyOf"]?.elements.first?["enum"]?.elements.compactMap(\.string) == words)
        case .duration: #expect(schema["pattern"]?.string?.contains("(ms|s|m|h|d)") == true)
        case .bytes: #expect(schema["anyOf"]?.elements.last?["pattern"]?.string?.contains("(kB|MB|GB)") == true)
        default: break
        }
    }

    @Test func `the schema has every adapter and its settings`() throws {
        let root = try root()
        let app = try #require(root["properties"]?["apps"]?["additionalProperties"])
        let adapters = AdapterRegistry.remint.registrations
        let names = app["properties"]?["adapter"]?["anyOf"]?.elements.first?["enum"]?.elements.compactMap(\.string)
        #expect(names == adapters.map(\.name))
        #expect(app["allOf"]?.elements.count == adapters.count)
        for adapter in adapters {
            let settings = try #require(root["$defs"]?["settings-\(adapter.name)"])
            #expect(settings["properties"]?.members.map(\.name) == adapter.settings.map(\.name))
            let required = adapter.settings.filter(\.isRequired).map(\.name)
            #expect((settings["required"]?.elements.compactMap(\.string) ?? []) == required)
            for setting in adapter.settings {
                let schema = try #require(settings["properties"]?[setting.name])
                #expect(schema["description"]?.string == setting.summary)
                #expect((schema["default"] != nil) == (setting.standard != nil))
            }
        }
    }

    @Test func `every reference in the schema leads somewhere`() throws {
        let root = try root()
        let names = Set(root["$defs"]?.members.map(\.name) ?? [])
        var used: Set<String> = []
        for match in Self.text.matches(of: /"\$ref": "#\/\$defs\/([^"]+)"/) { used.insert(String(match.1)) }
        #expect(used == names)
    }

    /// Python's jsonschema decides, over what PyYAML reads by the rules of YAML 1.2: a good file is taken, a broken one
    /// refused, but for rules between keys, which the file names.
    @Test(.enabled(if: JSONSchemaModule.isInstalled, JSONSchemaModule.isMissing), .timeLimit(.minutes(5)))
    func `a schema's reader accepts good files and refuses bad ones`() async throws {
        let config = Repository.root.appending(path: "config")
        let good =
            Fixture.all(in: "good").map(\.path)
            + ["remint.yaml", "docker/remint.yaml"].map { config.appending(path: $0).path }
        let broken = Fixture.all(in: "broken").map(\.path)
        let answers = try await JSONSchemaModule.validate(
            good + broken, by: config.appending(path: "remint.schema.json").path)
        #expect(answers.count == good.count + broken.count)
        for path in good + broken {
            let isGood = good.contains(path)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let said = text.firstMatch(of: #/(?m)^# schema: (.*)$/#).map { String($0.1) }
            let expected = said ?? (isGood ? "accepts" : "refuses")
            #expect(answers[path] == expected, "\(path)")
        }
        #expect(answers.values.count { $0 == "refuses" } > 150)
    }
}
