import AsyncTestSupport
import Kafka
import Logging
import Testing

@Suite(.timeLimit(.minutes(5))) struct LogTests {
    @Test func `a producer's library log goes to the logger`() async throws {
        try await withBroker { broker in
            let log = RecordingLog()
            let producer = try KafkaProducer(
                producerProperties(broker).merging(["debug": "broker"]), logger: log.logger(.trace))
            let line = await log.line { $0.event == "kafka.library" && $0.metadata["kafka.facility"] == "CONNECT" }
            #expect(line.level == .trace)
            #expect(line.metadata["kafka.text"]?.contains("broker") == true)
            #expect(await producer.close(within: patience))
        }
    }

    @Test func `a consumer's library log goes to the logger`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let log = RecordingLog()
            let properties = consumerProperties(broker, group: "g").merging(["debug": "cgrp"])
            let consumer = try KafkaConsumer(properties, topics: ["t"], logger: log.logger(.trace))
            try await join(consumer)
            #expect(await consumer.close(within: patience))
            let lines = log.lines.filter { $0.event == "kafka.library" }
            #expect(lines.contains { $0.metadata["kafka.facility"]?.isEmpty == false })
            #expect(lines.allSatisfy { $0.level <= .info })
        }
    }

    @Test func `a lost connection is a warning of the library's, and no second one of the producer's`() async throws {
        let log = RecordingLog()
        let producer = try KafkaProducer(["bootstrap.servers": "127.0.0.1:1"], logger: log.logger(.trace))
        let line = await log.line { $0.event == "kafka.producer-error" }
        #expect(line.level == .debug)
        #expect(line.metadata["kafka.error"]?.isEmpty == false)
        let failure = await log.line { $0.event == "kafka.library" && $0.metadata["kafka.facility"] == "FAIL" }
        #expect(failure.level == .warning)
        #expect(await producer.close(within: patience))
    }

    @Test func `a request of a producer's id that is tried again is no warning`() async throws {
        try await withBroker { broker in
            try await broker.inject(.errors(.initProducerID, [.coordinatorNotAvailable, .coordinatorNotAvailable]))
            let log = RecordingLog()
            let properties = producerProperties(broker).merging(["enable.idempotence": "true"])
            let producer = try KafkaProducer(properties, logger: log.logger(.trace))
            let line = await log.line { $0.event == "kafka.library" && $0.metadata["kafka.facility"] == "GETPID" }
            #expect(line.level <= .debug)
            #expect(await producer.close(within: patience))
        }
    }

    @Test func `a password is never logged`() async throws {
        let log = RecordingLog()
        let properties: ClientProperties = [
            "bootstrap.servers": "127.0.0.1:1", "security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN",
            "sasl.username": "u", "sasl.password": "p4ssw0rd", "debug": "all",
        ]
        let producer = try KafkaProducer(properties, logger: log.logger(.trace))
        await log.line(event: "kafka.producer-error")
        #expect(await producer.close(within: patience))
        #expect(log.lines.count > 10)
        #expect(log.lines.allSatisfy { line in line.metadata.values.allSatisfy { !$0.contains("p4ssw0rd") } })
    }
}
