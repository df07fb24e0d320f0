import Testing
import WorkerConfiguration

@Suite("Files made to hurt")
struct HostileFileTests {
    @Test(
        .timeLimit(.minutes(5)),
        arguments: ["", "apps: { a: { adapter: braze, key: k, settings: *a12 } }\n", "kafka: *a12\n"])
    func `aliases of aliases are refused before they grow`(_ more: String) {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...12 {
            text +=
                "a\(level): &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
                + "]\n"
        }
        #expect(ConfigurationFile(text + more).errors().contains { $0.contains("aliases of aliases") })
    }

    @Test(.timeLimit(.minutes(5))) func `a megabyte of keys costs no more than its length`() {
        let lines = (0..<60_000).map { "    p\($0): \"${A}\"\n" }.joined()
        let file = SampleText.minimal.replacing("keys:", with: "  properties:\n\(lines)keys:")
        let properties = ConfigurationFile(file, environment: ["A": "x"]).read().configuration?.kafka.properties
        #expect(properties?.count == 60_000)
        #expect(properties?.last?.value == "x")
        let unknown = (0..<60_000).map { "k\($0): 1\n" }.joined()
        let errors = ConfigurationFile(SampleText.minimal + unknown).errors()
        #expect(errors.count == 51)
        #expect(errors.contains { $0.hasSuffix("59950 more unknown keys from here on; remove them") })
    }

    @Test(arguments: [
        "*a : 1", "? *a\n: 1", "{*a : 1}", "[*a]: 1", "{x: *a}: 1", "b: {[[*a], 2] : 1}",
    ])
    func `an alias in a key is refused before anything is composed`(_ key: String) {
        let text = "a: &a [x, x]\n\(key)\n"
        #expect(ConfigurationFile(text).errors().first?.contains("an alias is a key or a part of one") == true)
    }

    @Test(arguments: [
        "b: *a", "b: [*a, *a]", "b: { c: *a }", "b: *a # *a : not a key", "b: 'a *a : text'", "b: c*a : d",
    ])
    func `an alias that is a value, and a string like one, is composed`(_ line: String) {
        let errors = ConfigurationFile("a: &a [x, x]\n\(line)\n").errors()
        #expect(!errors.contains { $0.contains("an alias is a key") })
    }

    @Test func `a file of too many levels, and one that is too large, are not composed`() {
        let deep = ConfigurationFile("kafka: " + String(repeating: "[", count: 100)).errors()
        #expect(deep.count == 1 && deep[0].contains("more than 64 levels"))
        let large = ConfigurationFile("# " + String(repeating: "x", count: 16 << 20) + "\n").errors()
        #expect(large.count == 1 && large[0].contains("the file is larger than 16384 kB"))
    }

    static let characters: [Mistake] = [
        Mistake(
            "NUL", ConfigurationFile("kafka:\n  a\u{7}: 1\n"), says: "2:4 not YAML: control characters are not allowed"),
        Mistake("NUL at once", ConfigurationFile("\u{1}"), says: "1:1 not YAML: control characters are not allowed"),
    ]

    @Test(arguments: characters) func `a character YAML does not have is refused with its place`(_ mistake: Mistake) {
        mistake.check()
    }

    @Test(arguments: ["group.id", "enable.auto.commit", "delivery.report.only.error", "transactional.id"])
    func `a property of the worker's own is not set through a file either`(_ name: String) {
        var file = SampleText.replacing("keys:", "  properties: { \(name)_file: f }\nkeys:")
        file.files = ["conf/f": "true"]
        Mistake(name, file, says: "3:17 \(name) is set by the worker itself; remove it").check()
    }

    @Test func `the check of certificates is not switched off through a file either`() {
        var file = SampleText.replacing("keys:", "  properties: { enable.ssl.certificate.verification_file: f }\nkeys:")
        file.files = ["conf/f": "false\n"]
        Mistake("", file, says: "3:17 certificates and host names are always checked").check()
    }

    @Test func `a secret is given in one way, not in two`() {
        var file = SampleText.replacing("keys:", "  properties: { sasl.password: a, sasl.password_file: f }\nkeys:")
        file.files = ["conf/f": "b"]
        Mistake("", file, says: "3:35 sasl.password stands here too; keep one of them").check()
    }

    @Test(arguments: [
        "127.example.com:9092", "127.0.0.1.example.com:9092", "localhost.example.com:9092", "127.0.0:1",
        "127.0.0.256:1",
    ])
    func `a name that looks like this machine is not this machine`(_ broker: String) {
        #expect(SampleText.replacing("127.0.0.1:9092", broker).errors().count == 1)
    }

    @Test(arguments: ["127.0.0.1:1", "127.255.0.9:1", "localhost:1", "localhost:9092", "'[::1]:9092'"])
    func `brokers on this machine may be reached in plain text`(_ broker: String) {
        #expect(SampleText.replacing("127.0.0.1:9092", broker).errors().isEmpty)
    }

    @Test(arguments: ["'${A:-${B}}'", "'${A:-${B:-c}}'"])
    func `a reference inside a reference is refused, not cut in two`(_ text: String) {
        Mistake(
            "", SampleText.replacing("keys:", "  group: \(text)\nkeys:"), says: "3:10 a reference to the environment"
        ).check()
    }

    @Test(arguments: [".", ".."]) func `Kafka has no topic of dots`(_ name: String) {
        Mistake("", SampleText.with("topics: { tokens: \(name) }\n"), says: "10:19 a topic's name").check()
    }

    static let misplaced: [SecretPlace] = [
        SecretPlace("an adapter", SampleText.minimal.replacing("braze", with: "${SECRET}")),
        SecretPlace("a key ring", SampleText.minimal.replacing("key: shop", with: "key: ${SECRET}")),
        SecretPlace("topics", SampleText.minimal + "topics: { tokens: \"${SECRET}\", dead_letters: \"${SECRET}\" }\n"),
    ]

    @Test(arguments: misplaced) func `a secret in the wrong place is not repeated`(_ place: SecretPlace) {
        let errors = ConfigurationFile(place.text, environment: ["SECRET": "hunter2-secret"]).errors()
        #expect(!errors.isEmpty)
        for error in errors { #expect(!error.contains("hunter2")) }
    }

    @Test func `a mistake in a key ring is reported once`() {
        Mistake("", SampleText.replacing("{ path: keys/shop }", "{}"), says: "4:3 keys.shop.path is missing").check()
    }

    @Test func `a section without a value has its place`() {
        Mistake(
            "", SampleText.replacing("  bootstrap_servers: 127.0.0.1:9092\n", ""),
            says: "1:1 kafka.bootstrap_servers is missing"
        ).check()
        Mistake(
            "", SampleText.replacing("adapter: braze\n    key: shop\n", "").with("\n"), says: "7:3 apps.ios.adapter",
            "7:3 apps.ios.key"
        ).check()
    }

    @Test func `a lifetime is checked even if the key ring is misspelled`() {
        var file = SampleText.replacing("key: shop", "key: shpo")
        file.text += "    lifetime: 1s\n"
        Mistake("", file, says: "9:10 keys has no key ring", "10:15 apps.ios.lifetime must be from").check()
    }
}

extension ConfigurationFile {
    /// The file with `more` after it.
    fileprivate func with(_ more: String) -> ConfigurationFile { ConfigurationFile(text + more) }
}
