import AdapterKit
import BrazeAdapter
import Kafka
import Testing
import Worker
import WorkerConfiguration

@Suite struct KafkaPropertiesTests {
    private func configuration(_ kafka: String) throws -> Configuration {
        let text = """
            kafka:
            \(kafka)
            keys: { k: { path: k } }
            apps: { a: { adapter: braze, key: k } }
            """
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil })
        let reader = ConfigurationReader(registry: AdapterRegistry([.init(BrazeAdapter.self)]), source: source)
        let (configuration, diagnostics) = reader.read("c.yaml")
        return try #require(configuration, "\(diagnostics)")
    }

    @Test func `what the guarantee hangs on cannot be configured away`() throws {
        let configuration = try configuration(
            "  bootstrap_servers: 127.0.0.1:1\n  properties: { client.id: mine, acks: 1 }")
        let properties = KafkaProperties(configuration, bootstrapServers: "127.0.0.1:1")
        #expect(properties.consumer["enable.auto.commit"] == "false")
        #expect(properties.consumer["enable.auto.offset.store"] == "false")
        #expect(properties.consumer["isolation.level"] == "read_committed")
        #expect(properties.consumer["group.id"] == "remint")
        #expect(properties.producer["enable.idempotence"] == "true")
        #expect(properties.producer["client.id"] == "mine")
    }

    @Test func `a property librdkafka refuses is reported where it stands, without its value`() throws {
        let configuration = try configuration(
            """
              bootstrap_servers: 127.0.0.1:1
              properties:
                client.id: mine
                sesion.timeout.ms: 1
                security.protocol: s3cret
            """)
        let found = KafkaProperties.diagnostics(for: configuration)
        #expect(found.map(\.place.line) == [5, 6])
        #expect(found.allSatisfy { $0.severity == .error && !$0.message.contains("s3cret") })
    }

    @Test func `the embedded broker gets the clients it needs`() throws {
        let properties = KafkaProperties(
            try configuration("  bootstrap_servers: embedded"), bootstrapServers: "127.0.0.1:7")
        #expect(properties.consumer["session.timeout.ms"] == "6000")
        #expect(properties.consumer["bootstrap.servers"] == "127.0.0.1:7")
    }
}
