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
    static let files: [Mistake] = [
        Mistake("empty", ConfigurationFile(""), says: "1:1 the file is empty; config/remint.yaml shows every key"),
        Mistake("white space", ConfigurationFile(" \n\n"), says: "1:1 the file is empty"),
        Mistake("comments", ConfigurationFile("# later\n"), says: "1:1 the file is empty"),
        Mistake(
            "a list", ConfigurationFile("- a\n- b\n"), says: "1:1 the file must be a mapping"),
        Mistake(
            "a string", ConfigurationFile("\n hello\n"), says: "2:2 the file must be a mapping"),
        Mistake("an open bracket", ConfigurationFile("kafka: {\nkeys: 1\n"), says: "3:1 not YAML: "),
        Mistake("an open quote", ConfigurationFile("kafka:\n  group: \"a\n"), says: "3:1 not YAML: "),
        Mistake("a wrong indentation", ConfigurationFile("kafka:\n    a: 1\n  b: 2\n"), says: "3:3 not YAML: "),
        Mistake("a colon too many", ConfigurationFile("kafka: a: b\n"), says: "1:9 not YAML: "),
        Mistake(
            "a tab", ConfigurationFile("kafka:\n\tgroup: a\n"),
            says: "2:1 not YAML: found character that cannot start any token"),
        Mistake("an unknown alias", ConfigurationFile("kafka: *nobody\n"), says: "1:8 not YAML: found undefined alias"),
        Mistake(
            "an alias inside its own anchor", ConfigurationFile("kafka: &k [*k]\n"),
            says: "1:12 not YAML: found undefined alias"),
        Mistake(
            "two documents", ConfigurationFile("a: 1\n---\nb: 2\n"), says: "2:1 not YAML: but found another document"),
        Mistake(
            "an unknown escape", ConfigurationFile("kafka: \"\\q\"\n"),
            says: "1:9 not YAML: found unknown escape character"),
    ]

    @Test(arguments: files) func `a file that is no configuration is refused with its place`(_ mistake: Mistake) {
        mistake.check()
    }

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
