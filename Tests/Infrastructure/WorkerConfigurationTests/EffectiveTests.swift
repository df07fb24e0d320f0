import AdapterKit
import Testing
import WorkerConfiguration

@Suite("The effective configuration")
struct EffectiveTests {
    private func effective(_ file: ConfigurationFile) throws -> EffectiveConfiguration {
        let (environment, files) = (file.environment, file.files.merging([ConfigurationFile.name: file.text]) { $1 })
        let reader = ConfigurationReader(
            registry: file.adapters,
            source: ConfigurationSource(environment: { environment[$0] }, file: { files[$0] }))
        let (effective, diagnostics) = reader.effective(ConfigurationFile.name)
        return try #require(effective, "\(diagnostics)")
    }

    private func entry(_ path: String, _ effective: EffectiveConfiguration) -> EffectiveConfiguration.Entry? {
        effective.entries.first { $0.path.joined(separator: ".") == path }
    }

    private func place(_ line: Int, _ column: Int) -> FileLocation {
        FileLocation(file: ConfigurationFile.name, line: line, column: column)
    }

    @Test func `a value has its line, its default or its vendor`() throws {
        var file = SampleText.replacing("keys:", "  group: ${GROUP}\nkeys:")
        file.environment = ["GROUP": "shop"]
        let effective = try effective(file)
        #expect(entry("kafka.bootstrap_servers", effective)?.origin == .file(place(2, 22)))
        #expect(entry("kafka.group", effective)?.value == "shop")
        #expect(entry("kafka.group", effective)?.origin == .environment(place(3, 10)))
        #expect(entry("worker.batch.linger", effective)?.value == "20ms")
        #expect(entry("worker.batch.linger", effective)?.origin == .standard)
        #expect(entry("apps.ios.lifetime", effective)?.value == "12h")
        #expect(entry("apps.ios.lifetime", effective)?.origin == .vendor("braze"))
        #expect(entry("apps.ios.settings.audience", effective)?.value == "false")
        #expect(effective.text.contains("  group: shop  # conf/remint.yaml:3, environment\n"))
        #expect(effective.text.contains("    linger: 20ms  # default\n"))
        #expect(effective.text.contains("    lifetime: 12h  # default of braze\n"))
    }

    @Test func `a section that is not configured is left out`() throws {
        let paths = try effective(ConfigurationFile(SampleText.minimal)).entries.map { $0.path.joined(separator: ".") }
        #expect(!paths.contains { $0.hasPrefix("admin") || $0.hasPrefix("pickup") || $0.contains("policy") })
        #expect(!paths.contains("kafka.instance") && !paths.contains("apps.ios.seal"))
        #expect(!paths.contains("apps.ios.lookup.patience") && paths.contains("apps.ios.lookup.mode"))
    }

    @Test func `the embedded broker's delivery is what it keeps`() throws {
        let effective = try effective(SampleText.replacing("127.0.0.1:9092", "embedded"))
        #expect(entry("delivery", effective)?.value == "at_least_once")
        #expect(entry("delivery", effective)?.origin == .standard)
    }

    @Test func `a vendor's terms apply where the file has none`() throws {
        var file = LookupText.app(LookupText.keyed)
        file.environment = [:]
        let effective = try effective(file)
        #expect(entry("apps.shop.lookup.patience", effective)?.origin == .standard)
        #expect(entry("apps.shop.lookup.timeout", effective)?.origin == .vendor("keyed"))
        #expect(entry("apps.shop.lookup.endpoint", effective)?.value == "https://rest.keyed.example")
        #expect(entry("apps.shop.lookup.key", effective)?.value == EffectiveConfiguration.redacted)
    }

    static let properties: [(name: String, isShown: Bool)] = [
        ("security.protocol", true), ("sasl.mechanism", true), ("client.id", true), ("session.timeout.ms", true),
        ("ssl.ca.location", true), ("fetch.min.bytes", true), ("sasl.password", false), ("sasl.username", false),
        ("ssl.key.password", false), ("ssl.key.pem", false), ("ssl.keystore.password", false),
        ("sasl.oauthbearer.client.secret", false), ("sasl.oauthbearer.config", false), ("sasl.pasword", false),
        ("some.token.id", false), ("sasl.kerberos.principal", false),
    ]

    @Test(arguments: properties) func `a property shows where it is surely no secret`(_ name: String, _ isShown: Bool)
        throws
    {
        let file = SampleText.replacing("keys:", "  properties: { \(name): hunter2 }\nkeys:")
        #expect(try effective(file).text.contains("hunter2") == isShown)
    }

    @Test func `no secret shows, wherever it came from`() throws {
        var file = SampleText.replacing(
            "keys:",
            "  properties: { sasl.password: \"${SECRET}\", ssl.key.password_file: secret }\nkeys:")
        file.text += "    lookup: { mode: off, key: \"${SECRET}\", password: hunter2 }\n"
        file.environment = ["SECRET": "hunter2"]
        file.files = ["conf/secret": "hunter2"]
        let text = try effective(file).text
        #expect(!text.contains("hunter2"))
        #expect(text.contains("ssl.key.password_file: secret  #"))
        #expect(text.contains("sasl.password: (redacted)  # conf/remint.yaml:3, environment\n"))
    }

    /// Tests that the printed configuration can be read again, and means the same.
    @Test(arguments: Fixture.all(in: "good"))
    func `the effective configuration reads back as the configuration it came from`(_ fixture: Fixture)
        throws
    {
        let configuration = try #require(fixture.read().configuration)
        var shown = fixture
        shown.text = try #require(fixture.effective().configuration).text
        let (again, diagnostics) = shown.read()
        let outline = try #require(again, "\(diagnostics)").outline
        #expect(outline.difference(from: configuration.outline).map { "\($0)" } == [])
        let values = try #require(shown.effective().configuration).entries.map { "\($0.path) \($0.value ?? "")" }
        #expect(values == fixture.effective().configuration?.entries.map { "\($0.path) \($0.value ?? "")" })
    }

    @Test(arguments: [
        "plain", "two words", "null", "~", "true", "0x10", "a: b", "a #b", "#a", "-", "- a", "[a]", "{a}", "*a", "&a",
        "!a",
        "%a", "@a", "`a", "'a'", "\"a\"", "a\\b", "é \u{1F600}", "a\u{85}b", "a\u{2028}b", ":",
        "a:",
        "=", "?", "|", ">", ",", "$${HOME}",
    ])
    func `any text can be shown and read again`(_ text: String) throws {
        var file = SampleText.replacing("keys:", "  group: ${GROUP}\nkeys:")
        file.environment = ["GROUP": text.replacing("$${", with: "${")]
        let shown = try effective(file).text.replacing("${HOME}", with: "$${HOME}")
        #expect(try ConfigurationFile(shown).configuration().kafka.group == text.replacing("$${", with: "${"))
    }
}
