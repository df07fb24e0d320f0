import Testing
import WorkerConfiguration

@Suite("The kafka and topics sections")
struct KafkaSectionTests {
    private static func properties(_ text: String, environment: [String: String] = [:], files: [String: String] = [:])
        -> ConfigurationFile
    {
        var file = SampleText.replacing("keys:", "  properties: \(text)\nkeys:")
        file.environment = environment
        file.files = files
        return file
    }

    @Test func `topics may swap their names`() throws {
        let topics = try SampleText.with("topics: { invalidations: remint.tokens, tokens: remint.invalidations }\n")
            .configuration().topics
        #expect(topics.invalidations == "remint.tokens")
        #expect(topics.tokens == "remint.invalidations")
    }

    @Test(arguments: [
        "bootstrap.servers", "metadata.broker.list", "group.id", "enable.auto.commit", "enable.auto.offset.store",
        "isolation.level",
        "enable.idempotence", "transactional.id", "partition.assignment.strategy",
        "auto.offset.reset", "enable.partition.eof", "partitioner", "group.protocol", "auto.commit.enable",
        "offset.store.method", "topic.blacklist", "plugin.library.paths", "test.mock.num.brokers",
    ])
    func `properties the guarantees hang on are not to be set`(_ name: String) {
        Mistake(name, Self.properties("{ \(name): x }"), says: "3:17 \(name) is set by the worker itself; remove it")
            .check()
    }

    @Test func `properties are kept as texts, in the order of the file`() throws {
        let file = Self.properties("{ z: 1, a: on, sasl.password: \"0123\", e: '' }")
        let properties = try file.configuration().kafka.properties
        #expect(properties.map(\.name) == ["z", "a", "sasl.password", "e"])
        #expect(properties.map(\.value) == ["1", "on", "0123", ""])
    }

    @Test(arguments: [
        ("secret", "secret"), ("secret\n", "secret"), ("secret\n\n", "secret\n"), (" secret ", " secret "), ("", ""),
        ("a\nb\n", "a\nb"),
    ])
    func `a property of a file is its text without the last line's end`(_ contents: String, _ value: String) throws {
        let file = Self.properties("{ sasl.password_file: secrets/kafka }", files: ["conf/secrets/kafka": contents])
        let property = try #require(try file.configuration().kafka.properties.first)
        #expect(property.name == "sasl.password")
        #expect(property.value == value)
    }

    @Test func `an absolute path of a file stays`() throws {
        let file = Self.properties("{ sasl.password_file: /run/secrets/kafka }", files: ["/run/secrets/kafka": "s"])
        #expect(try file.configuration().kafka.properties.first?.value == "s")
    }

    @Test func `the embedded broker may have a port of its own`() throws {
        let kafka = try SampleText.replacing("127.0.0.1:9092", "embedded:19092").configuration().kafka
        #expect(kafka.isEmbedded && kafka.embeddedPort == 19092)
        for text in ["embedded:0", "embedded:65536", "embedded:x", "'embedded:'"] {
            Mistake(
                text, SampleText.replacing("127.0.0.1:9092", text),
                says: "2:22 kafka.bootstrap_servers: the address has no port from 1 to 65535"
            ).check()
        }
    }

    @Test func `the embedded broker cannot keep exactly_once`() {
        var file = SampleText.replacing("127.0.0.1:9092", "embedded")
        file.text += "delivery: exactly_once\n"
        #expect(file.errors().count == 1)
        file.text = file.text.replacing("exactly_once", with: "at_least_once")
        #expect(file.errors().isEmpty)
    }

    @Test func `brokers elsewhere are not reached in plain text unless the file allows it`() {
        #expect(SampleText.replacing("127.0.0.1:9092", "kafka.example:9092").errors().count == 1)
        #expect(SampleText.replacing("127.0.0.1:9092", "kafka.example:9092\n  insecure: true").errors().isEmpty)
        #expect(
            SampleText.replacing("127.0.0.1:9092", "kafka.example:9092\n  properties: { security.protocol: SASL_SSL }")
                .errors().isEmpty)
        #expect(SampleText.replacing("127.0.0.1:9092", "'localhost:1,127.0.0.2:9, [::1]:9'").errors().isEmpty)
        #expect(SampleText.replacing("127.0.0.1:9092", "'localhost:1,kafka.example:9'").errors().count == 1)
    }
}
