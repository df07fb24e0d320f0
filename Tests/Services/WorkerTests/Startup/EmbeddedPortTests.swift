import Kafka
import Logging
import Testing
import Wiring

@testable import Worker

/// Tests of the embedded broker's own port, which other processes can know.
@Suite struct EmbeddedPortTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `a client reaches the embedded broker by its port`() async throws {
        let broker = try EmbeddedBroker(logger: logger)
        try await broker.createTopic("shop", partitions: 1)
        let port = try await EmbeddedPort.open(0, to: broker.bootstrapServers)
        let producer = try KafkaProducer(["bootstrap.servers": port.address], logger: logger)
        let topics = try await producer.whileOpen { try await $0.topicNames(within: .seconds(15)) }
        #expect(topics == ["shop"])
        await port.close()
        await broker.close()
    }

    @Test func `a port that is taken is refused with the key to change`() async throws {
        let port = try await EmbeddedPort.open(0, to: "127.0.0.1:1")
        let number = try #require(port.address.split(separator: ":").last.flatMap { UInt16($0) })
        let error = await #expect(throws: WorkerError.self) {
            try await EmbeddedPort.open(number, to: "127.0.0.1:1")
        }
        #expect(error?.description.contains("another process listens there") == true, "\(String(describing: error))")
        #expect(error?.description.contains("embedded:PORT") == true)
        await port.close()
    }
}
