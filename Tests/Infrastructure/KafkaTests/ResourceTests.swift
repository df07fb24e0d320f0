import AsyncTestSupport
import Foundation
import Kafka
import Testing

/// In a process of its own, for other tests open and close descriptors too.
@Suite(.timeLimit(.minutes(5))) struct ResourceTests {
    @Test func `closed clients give back every descriptor and thread`() async {
        await #expect(processExitsWith: .success) {
            try await useClients(1)
            let before = try counts()
            try await useClients(30)
            let after = try counts()
            // Dispatch keeps idle threads, and opens a descriptor or two for its own use.
            #expect(after.descriptors <= before.descriptors + 3)
            #expect(after.threads <= before.threads + 20)
        }
    }

    @Test func `clients that could not be made give back their descriptors`() async {
        await #expect(processExitsWith: .success) {
            let refused: ClientProperties = ["security.protocol": "ssl", "ssl.ca.location": "/nonexistent"]
            func refuse(_ times: Int) {
                for _ in 0..<times {
                    #expect(throws: KafkaError.self) { try KafkaProducer(refused, logger: silent) }
                    #expect(throws: KafkaError.self) { try KafkaConsumer([:], topics: ["t"], logger: silent) }
                }
            }
            refuse(1)
            let before = try counts()
            refuse(30)
            // A consumer that was refused after its client was made is destroyed in the background.
            try await eventually("the return of the descriptors") {
                try counts().descriptors <= before.descriptors + 3
            }
        }
    }
}

private func useClients(_ rounds: Int) async throws {
    for _ in 0..<rounds {
        try await withProducer { broker, producer in
            #expect(await producer.deliver(numbered(1)) == [nil])
            let consumer = try KafkaConsumer(consumerProperties(broker, group: "g"), topics: ["t"], logger: silent)
            #expect(try await consumer.metadata(of: "t", within: patience).partitionCount == 1)
            #expect(await consumer.close(within: patience))
        }
    }
}

private func counts() throws -> (descriptors: Int, threads: Int) {
    let files = FileManager.default
    return (
        try files.contentsOfDirectory(atPath: "/proc/self/fd").count,
        try files.contentsOfDirectory(atPath: "/proc/self/task").count
    )
}
