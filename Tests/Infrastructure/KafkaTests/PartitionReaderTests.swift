import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct PartitionReaderTests {
    private let partitions = (0..<3).map { TopicPartition(topic: "t", partition: $0) }

    /// Reads to the end of every partition.
    private func read(
        _ broker: EmbeddedBroker, from offsets: [PartitionOffset], _ more: ClientProperties = [:]
    ) async throws -> [ConsumedRecord] {
        let properties = consumerProperties(broker, group: "reader").merging(["enable.partition.eof": "true"])
        let reader = try KafkaConsumer(properties.merging(more), reading: [], logger: silent)
        var records: [ConsumedRecord] = []
        try await reader.scan(offsets, within: patience) { record in
            records.append(record)
            return true
        }
        #expect(await reader.close(within: patience))
        return records
    }

    @Test func `a reader reads partitions to their ends, also empty ones`() async throws {
        try await withProducer(topics: ["t": 3]) { broker, producer in
            let records = (0..<40).map { ProducerRecord(topic: "t", key: text("one key"), value: text("\($0)")) }
            #expect(await producer.deliver(records).allSatisfy { $0 == nil })
            let found = try await read(broker, from: partitions.map { PartitionOffset($0, offset: 0) })
            #expect(found.compactMap(\.number) == Array(0..<40))
            #expect(Set(found.map(\.position.partition)).count == 1)
        }
    }

    @Test(arguments: [0, 1, 39, 40] as [Int64]) func `a reader begins at the given offset`(offset: Int64) async throws {
        try await withProducer { broker, producer in
            #expect(await producer.deliver(numbered(40)).allSatisfy { $0 == nil })
            let found = try await read(broker, from: [PartitionOffset(partitions[0], offset: offset)])
            #expect(found.map(\.position.offset) == Array(offset..<40))
        }
    }

    @Test func `a scan is over once no more of any partition is wanted`() async throws {
        try await withProducer { broker, producer in
            #expect(await producer.deliver(numbered(40)).allSatisfy { $0 == nil })
            // No partition reports its end.
            let reader = try KafkaConsumer(consumerProperties(broker, group: "r"), reading: [], logger: silent)
            var offsets: [Int64] = []
            try await reader.scan([PartitionOffset(partitions[0], offset: 3)], within: patience) { record in
                offsets.append(record.position.offset)
                return offsets.count < 5
            }
            #expect(offsets == [3, 4, 5, 6, 7])
            #expect(await reader.close(within: patience))
        }
    }

    @Test func `a scan in which nothing comes gives up with the partition's name`() async throws {
        try await withProducer { broker, _ in
            let reader = try KafkaConsumer(consumerProperties(broker, group: "r"), reading: [], logger: silent)
            let error = await #expect(throws: KafkaError.self) {
                try await reader.scan([PartitionOffset(partitions[0], offset: 0)], within: .milliseconds(300)) { _ in
                    true
                }
            }
            #expect(error?.code == .timedOut)
            #expect(error?.message.contains("t/0") == true)
            #expect(await reader.close(within: patience))
        }
    }

    @Test func `a reader belongs to no group`() async throws {
        try await withProducer { broker, producer in
            #expect(await producer.deliver(numbered(4)).allSatisfy { $0 == nil })
            let properties = consumerProperties(broker, group: "g")
            let reader = try KafkaConsumer(
                properties, reading: [PartitionOffset(partitions[0], offset: 0)], logger: silent)
            #expect(await reader.assignedPartitions == [partitions[0]])
            #expect(try await consume(4, from: reader).count == 4)
            // Nothing would stop a zombie: its offsets go into no transaction.
            let error = await #expect(throws: KafkaError.self) { try await reader.groupMetadata() }
            #expect(error?.code == .unknownMemberID)
            // The group's real member gets the partition all the same.
            try await withConsumer(of: broker) { member in
                let taken = try await consume(4, from: member)
                #expect(taken.count == 4)
                #expect(await reader.assignedPartitions == [partitions[0]])
            }
            #expect(await reader.knownEnds == [partitions[0]: 4])
            #expect(await reader.close(within: patience))
        }
    }

    @Test func `a reader reports a partition's end again after more was read`() async throws {
        try await withProducer { broker, producer in
            let properties = consumerProperties(broker, group: "r").merging(["enable.partition.eof": "true"])
            let reader = try KafkaConsumer(
                properties, reading: [PartitionOffset(partitions[0], offset: 0)], logger: silent)
            for round in 0..<3 {
                #expect(await producer.deliver(numbered(5)).allSatisfy { $0 == nil })
                var count = 0
                var isAtEnd = false
                while count < 5 || !isAtEnd {
                    try Task.checkCancellation()
                    for event in await reader.events(limit: 100, within: .seconds(1)) {
                        if case .record = event { (count, isAtEnd) = (count + 1, false) }
                        if case .endOfPartition = event { isAtEnd = true }
                    }
                }
                #expect(count == 5, "round \(round)")
            }
            #expect(await reader.close(within: patience))
        }
    }

    @Test func `a reader can pause and seek`() async throws {
        try await withProducer { broker, producer in
            #expect(await producer.deliver(numbered(10)).allSatisfy { $0 == nil })
            let reader = try KafkaConsumer(
                consumerProperties(broker, group: "r"), reading: [PartitionOffset(partitions[0], offset: 0)],
                logger: silent)
            #expect(try await consume(10, from: reader).count == 10)
            try await reader.pause([partitions[0]])
            try await reader.seek(to: [PartitionOffset(partitions[0], offset: 3)])
            #expect(await reader.events(limit: 10, within: .milliseconds(200)).isEmpty)
            try await reader.resume([partitions[0]])
            #expect(try await consume(7, from: reader).compactMap(\.number) == Array(3..<10))
            #expect(await reader.close(within: patience))
        }
    }

    @Test func `a reader accepts its partitions once`() async throws {
        try await withProducer { broker, producer in
            #expect(await producer.deliver(numbered(4)).allSatisfy { $0 == nil })
            let start = [PartitionOffset(partitions[0], offset: 0)]
            let reader = try KafkaConsumer(consumerProperties(broker, group: "r"), reading: [], logger: silent)
            try await reader.read(start)
            #expect(try await consume(4, from: reader).count == 4)
            let error = await #expect(throws: KafkaError.self) { try await reader.read(start) }
            #expect(error?.code == .invalidState)
            #expect(await reader.close(within: patience))
        }
    }

    @Test func `a reader needs a group's name`() {
        let start = [PartitionOffset(partitions[0], offset: 0)]
        #expect(throws: KafkaError.self) {
            try KafkaConsumer(["bootstrap.servers": "127.0.0.1:1"], reading: start, logger: silent)
        }
    }
}
