import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct PropertyTests {
    @Test func `the error about an unknown property names it`() throws {
        let error = #expect(throws: KafkaError.self) {
            try KafkaProducer(["bootstrap.severs": "secret"], logger: silent)
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("bootstrap.severs") == true)
        #expect(error.map { "\($0)".contains("secret") } == false)
    }

    @Test(arguments: [
        ("queue.buffering.max.messages", "s3cr3t"), ("security.protocol", "s3cr3t"),
        ("acks", "s3cr3t"), ("sasl.oauthbearer.method", "oidc"),
    ])
    func `the error about a property's value names the property and not the value`(name: String, value: String) throws {
        var properties: ClientProperties = ["sasl.password": "p4ssw0rd", "ssl.key.password": "p4ssw0rd"]
        properties[name] = value
        let problems = properties.problems()
        #expect(problems.map(\.name) == [name])
        let error = #expect(throws: KafkaError.self) { try KafkaProducer(properties, logger: silent) }
        #expect(error?.code == .invalidArgument)
        let texts = problems.map(\.message) + [error.map { "\($0)" } ?? ""]
        #expect(error?.message.contains(name) == true)
        #expect(texts.allSatisfy { !$0.contains("s3cr3t") && !$0.contains("p4ssw0rd") })
    }

    @Test func `every problem of the properties is listed, and good ones have none`() {
        let properties: ClientProperties = [
            "bootstrap.servers": "localhost", "no.such.thing": "1", "acks": "many", "sasl.password": "p4ssw0rd",
        ]
        #expect(properties.problems().map(\.name) == ["no.such.thing", "acks"])
        let good: ClientProperties = [
            "bootstrap.servers": "localhost", "security.protocol": "sasl_ssl", "sasl.mechanism": "PLAIN",
            "compression.codec": "zstd", "auto.offset.reset": "error",
        ]
        #expect(good.problems().isEmpty)
        #expect(ClientProperties().problems().isEmpty)
    }

    @Test func `later properties override earlier ones, and defaults override nothing`() {
        var properties: ClientProperties = ["a": "1", "b": "2", "a": "3"]
        #expect(properties["a"] == "3")
        #expect(properties.merging(["b": "4"])["b"] == "4")
        #expect(properties.withDefaults(["b": "4", "c": "5"])["b"] == "2")
        #expect(properties.withDefaults(["b": "4", "c": "5"])["c"] == "5")
        properties["a"] = nil
        #expect(properties["a"] == nil)
    }

    @Test func `properties that contradict each other are refused`() throws {
        let properties: ClientProperties = [
            "transactional.id": "x", "transaction.timeout.ms": "5000", "message.timeout.ms": "60000",
        ]
        #expect(properties.problems().isEmpty)
        let error = #expect(throws: KafkaError.self) { try KafkaProducer(properties, logger: silent) }
        #expect(error?.message.contains("message.timeout.ms") == true)
    }

    @Test(arguments: ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
    func `passwords over TLS are accepted`(mechanism: String) async throws {
        let properties: ClientProperties = [
            "bootstrap.servers": "127.0.0.1:1", "security.protocol": "sasl_ssl", "sasl.mechanism": mechanism,
            "sasl.username": "u", "sasl.password": "p4ssw0rd",
        ]
        let producer = try KafkaProducer(properties, logger: silent)
        #expect(await producer.close(within: patience))
    }

    @Test(arguments: ["ssl.ca.location", "ssl.certificate.location", "ssl.key.location"])
    func `a missing file is refused at once`(name: String) {
        var properties: ClientProperties = ["security.protocol": "ssl", "sasl.password": "p4ssw0rd"]
        properties[name] = "/nonexistent/file.pem"
        let error = #expect(throws: KafkaError.self) { try KafkaProducer(properties, logger: silent) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains(name) == true)
        #expect(error?.message.contains("p4ssw0rd") == false)
    }

    @Test func `a consumer without a group or without topics is refused`() {
        let servers: ClientProperties = ["bootstrap.servers": "127.0.0.1:1"]
        #expect(throws: KafkaError.self) { try KafkaConsumer(servers, topics: ["t"], logger: silent) }
        #expect(throws: KafkaError.self) {
            try KafkaConsumer(servers.merging(["group.id": "g"]), topics: [], logger: silent)
        }
    }
}
