import AdapterKit
import Keyring
import Testing
import WorkerConfiguration

@testable import Operations

/// Tests of the first configuration that a setup writes, and of the commands that it prints.
@Suite struct StarterConfigurationTests {
    /// Returns the configuration in `starter`, which must have no finding.
    private func read(_ starter: StarterConfiguration) throws -> Configuration {
        let text = starter.text
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "remint.yaml" ? text : nil })
        let reader = ConfigurationReader(registry: SetupAnswersTests.registry, source: source)
        let (configuration, diagnostics) = reader.read("remint.yaml")
        #expect(diagnostics.isEmpty, "\(diagnostics)\n\(text)")
        return try #require(configuration)
    }

    private func starter(
        _ vendor: String, _ answers: [(SetupQuestion, String)] = [], isPlaintext: Bool = false, backend: String? = nil
    ) throws -> StarterConfiguration {
        let answers = try SetupAnswersTests.standard(vendor, answers)
        return try #require(answers.configuration(isPlaintext: isPlaintext, backend: backend))
    }

    @Test func `a first configuration is short, right, and lets the edge name the user`() throws {
        let starter = try starter("braze")
        #expect(starter.text.split(separator: "\n").count <= 15)
        let configuration = try read(starter)
        #expect(configuration.apps.map(\.name) == ["braze"])
        #expect(configuration.apps.first?.identity == .vouched)
        #expect(configuration.keys.map(\.path) == ["keys/braze"])
        #expect(configuration.kafka.embeddedPort == 19092)
        #expect(configuration.pickup == nil)
        #expect(configuration.admin?.port == 9464 && configuration.admin?.isLoopback == true)
    }

    @Test func `a name that YAML reads as another type is quoted`() throws {
        for name in ["on", "1.0", "null", "A.b"] {
            #expect(try read(starter("braze", [(.app, name)])).apps.map(\.name) == [name])
        }
    }

    @Test func `a setting keeps its characters`() throws {
        let settings = try starter(
            "dotdigital",
            [
                (.setting(SettingKey("issuer", isRequired: true, "")), #"a "b": #c"#),
                (.setting(SettingKey("audience", isRequired: true, "")), "1e3"),
            ])
        #expect(settings.text.contains(##"      issuer: "a \"b\": #c""##))
        _ = try read(settings)
    }

    @Test func `brokers on other machines are called with TLS, or in plain text on request`() throws {
        let encrypted = try read(starter("braze", [(.brokers, "kafka:9093")]))
        #expect(encrypted.kafka.properties.map(\.name) == ["security.protocol"])
        let plain = try read(starter("braze", [(.brokers, "kafka:9092")], isPlaintext: true))
        #expect(plain.kafka.isInsecure && plain.kafka.properties.isEmpty)
        let local = try read(starter("braze", [(.brokers, "127.0.0.1:9092")]))
        #expect(!local.kafka.isInsecure && local.kafka.properties.isEmpty)
    }

    @Test func `a gateway accepts the API key of a backend`() throws {
        let hash = String(repeating: "0", count: 64)
        let configuration = try read(starter("braze", [(.gateway, "yes")], backend: hash))
        #expect(configuration.pickup?.apiKeys.map(\.hash) == [hash])
        #expect(configuration.pickup?.port == 8080)
        #expect(configuration.pickup?.metrics?.port == 9465)
    }

    private func commands(_ starter: StarterConfiguration) throws -> [String] {
        let adapter = try #require(try read(starter).apps.first?.adapter)
        return RemintCommand.$invocation.withValue(.init(config: "a b/remint.yaml")) {
            FirstSteps(starter, adapter: adapter, keyFile: "a b/backend.key").steps.map(\.command)
        }
    }

    @Test func `the first steps fit the brokers and the edge`() throws {
        let config = "--config 'a b/remint.yaml'"
        #expect(
            try commands(starter("braze")) == [
                "remint check \(config)", "remint run \(config)", "remint emit --app braze --user u-42 \(config)",
            ])
        let gateway = try starter(
            "braze", [(.brokers, "127.0.0.1:9092"), (.gateway, "yes")], backend: String(repeating: "0", count: 64))
        let steps = try commands(gateway)
        #expect(steps.prefix(2) == ["remint topics create \(config)", "remint run --with-pickup \(config)"])
        #expect(
            steps.last
                == #"printf 'x-api-key: %s' "$(cat 'a b/backend.key')" | curl -H @- -H 'remint-vouched: {"user":"u-42"}' http://127.0.0.1:8080/v1/apps/braze/token"#
        )
    }

    /// The brokers, and the option of the command that makes the topics.
    @Test(
        arguments: [
            ("a:9092", nil), ("a:9092,b:9092", "2"), ("a:9092,b:9092,c:9092", "3"),
            ("a:9092,b:9092,c:9092,d:9092", "3"),
        ] as [(String, String?)])
    func `topics get copies on the named brokers`(_ brokers: String, _ copies: String?) throws {
        let option = copies.map { " --replication \($0)" } ?? ""
        let first = try commands(starter("braze", [(.brokers, brokers)])).first
        #expect(first == "remint topics create\(option) --config 'a b/remint.yaml'")
    }

    @Test func `a vendor whose tokens need more than a user's id gets steps that work`() throws {
        let challenge = [
            (SetupQuestion.setting(SettingKey("issuer", isRequired: true, "")), "a"),
            (.setting(SettingKey("audience", isRequired: true, "")), "b"),
        ]
        let last = try commands(starter("dotdigital", challenge)).last
        #expect(last == "remint tail --events --config 'a b/remint.yaml'")
    }
}
