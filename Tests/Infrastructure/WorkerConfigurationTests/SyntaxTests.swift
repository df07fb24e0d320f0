import Testing
import WorkerConfiguration

/// A file with a duplicate `key` in one mapping.
struct Duplicate: CustomTestStringConvertible, Sendable {
    let key: String
    let text: String
    var testDescription: String { key }

    init(key: String, in text: String) {
        self.key = key
        self.text = text
    }
}

@Suite("Files that are no configuration")
struct SyntaxTests {
    @Test func `a missing configuration file is refused`() {
        let reader = ConfigurationReader(
            registry: ConfigurationFile.registry,
            source: ConfigurationSource(environment: { _ in nil }, file: { _ in nil }))
        let (configuration, diagnostics) = reader.read("nowhere.yaml")
        #expect(configuration == nil)
        #expect(
            diagnostics.map(\.description) == [
                "nowhere.yaml:1:1: error: no such file; name one with --config"
            ])
    }

    static let duplicates: [Duplicate] = [
        Duplicate(key: "kafka", in: SampleText.minimal + "kafka: {}\n"),
        Duplicate(key: "key", in: SampleText.minimal.replacing("key: shop", with: "key: shop\n    key: push")),
        Duplicate(key: "path", in: SampleText.minimal.replacing("path: keys/shop", with: "path: a, path: b")),
        Duplicate(key: "shop", in: SampleText.minimal.replacing("  push:", with: "  'shop':")),
        Duplicate(key: "level", in: SampleText.minimal + "log: { level: info, \"level\": debug }\n"),
    ]

    @Test(arguments: duplicates) func `a duplicate key is refused by name`(_ duplicate: Duplicate) {
        let key = duplicate.key
        let errors = ConfigurationFile(duplicate.text).errors()
        #expect(errors.count == 1)
        #expect(errors.first?.contains("a duplicate key") == true)
        #expect(errors.first?.contains(key) == true)
        #expect(errors.first?.hasPrefix("conf/remint.yaml:1:1:") == (key == "kafka"), "\(errors)")
    }

    @Test(arguments: ["\u{0}", "a\u{0}b: 1", "\u{1}", "kafka: \u{7}", "\u{FFFE}"])
    func `characters YAML does not have are refused`(_ text: String) {
        #expect(!ConfigurationFile(text).errors().isEmpty)
    }

    @Test(arguments: [500, 990, 5000, 200_000], ["[", "{a: ", "- ", "? "])
    func `nesting, however deep, is refused and not followed`(_ depth: Int, _ bracket: String) {
        #expect(!ConfigurationFile("kafka: " + String(repeating: bracket, count: depth)).errors().isEmpty)
        let closing = String(repeating: bracket == "[" ? "]" : "}", count: depth)
        #expect(!ConfigurationFile("x: " + String(repeating: bracket, count: depth) + closing).errors().isEmpty)
    }

    @Test(.timeLimit(.minutes(5))) func `a megabyte in one value is read`() throws {
        let file = SampleText.replacing(
            "keys:", "  properties: { a: '\(String(repeating: "x$", count: 1 << 19))' }\nkeys:")
        #expect(try file.configuration().kafka.properties.first?.value.utf8.count == 1 << 20)
    }

    @Test(.timeLimit(.minutes(5))) func `a megabyte of references is completed`() throws {
        var file = SampleText.replacing(
            "keys:", "  properties: { a: '\(String(repeating: "${A}", count: 1 << 18))' }\nkeys:")
        file.environment = ["A": "bc"]
        #expect(try file.configuration().kafka.properties.first?.value.utf8.count == 1 << 19)
    }
}
