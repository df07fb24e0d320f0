import Testing

@testable import Kafka

/// Record batches that no consumer can unpack.
@Suite(.timeLimit(.minutes(5))) struct UnreadableBatchTests {
    private let partition = TopicPartition(topic: "t", partition: 0)

    // MARK: The search

    @Test(arguments: [1, 2, 3, 7, 8, 9, 140, 1_000_000] as [Int64], [1, 2, 5, 1_000_000_000] as [Int64])
    func `a search finds the offset behind a batch of any length`(length: Int64, rest: Int64) {
        let first: Int64 = 17, behind = first + length
        var search = BatchSearch(first: first, end: behind + rest - 1)
        var probes = 0
        while let probe = search.probe {
            probes += 1
            #expect(probe > first && probe < behind + rest)
            probe < behind ? search.isInside(probe) : search.isBehind(probe)
        }
        #expect(search.end == behind)
        #expect(probes <= 42, "each probe unpacks the batch")
    }

    @Test(arguments: [(0, 0), (.max, .max), (-1, .max), (5, 3)] as [(Int64, Int64)])
    func `a search survives any numbers`(first: Int64, end: Int64) {
        var search = BatchSearch(first: first, end: end)
        var probes = 0
        while let probe = search.probe, probes < 200 {
            probes += 1
            search.isInside(probe)
        }
        #expect(search.probe == nil)
        search.isBehind(.min)
        #expect(search.probe == nil)
    }

    // MARK: The broker

    /// A consumer's limit of 1 MB, which bounds what zstd unpacks to.
    private static let limits: ClientProperties = [
        "fetch.max.bytes": "1000000", "receive.message.max.bytes": "1000512", "enable.partition.eof": "true",
    ]

    /// Runs `body` on a topic with two records, a batch of three that unpacks to 1.2 MB, and two more records.
    private func withBatch(_ body: (ClientProperties) async throws -> Void) async throws {
        try await withProducer(["linger.ms": "0"]) { broker, producer in
            #expect(await producer.deliver(numbered(2)).allSatisfy { $0 == nil })
            let packing: ClientProperties = [
                "compression.codec": "zstd", "message.max.bytes": "4000000", "batch.size": "4000000",
                "linger.ms": "1000",
            ]
            let packer = try KafkaProducer(producerProperties(broker).merging(packing), logger: silent)
            let blanks = [UInt8](repeating: 32, count: 400_000)
            let bomb = (0..<3).map { _ in ProducerRecord(topic: "t", key: nil, value: blanks) }
            #expect(await packer.deliver(bomb).allSatisfy { $0 == nil })
            #expect(await packer.close(within: patience))
            #expect(await producer.deliver(numbered(2)).allSatisfy { $0 == nil })
            try await body(consumerProperties(broker, group: "r").merging(Self.limits))
        }
    }

    @Test func `the error of a batch names its topic, its partition and its first offset, each time`() async throws {
        try await withBatch { properties in
            let reader = try KafkaConsumer(properties, reading: [PartitionOffset(partition, offset: 0)], logger: silent)
            var offsets: [Int64] = []
            var errors: [KafkaError] = []
            while errors.count < 2 {
                try Task.checkCancellation()
                for event in await reader.events(limit: 10, within: .seconds(1)) {
                    switch event {
                    case .record(let record): offsets.append(record.position.offset)
                    case .error(let error): errors.append(error)
                    case .endOfPartition, .rebalance: Issue.record("\(event)")
                    }
                }
            }
            #expect(offsets == [0, 1])
            for error in errors {
                #expect(error.batch == RecordPosition(topic: "t", partition: 0, offset: 2))
                #expect(error.code == .badCompression && error.endsReading && !error.isFatal)
                #expect(error.message.contains("offset 2 of t/0"))
            }
            #expect(await reader.close(within: patience))
        }
    }

    @Test(arguments: [false, true]) func `a scan ends at a batch that it cannot read, with or without its error`(
        _ passesBatches: Bool
    ) async throws {
        try await withBatch { properties in
            let reader = try KafkaConsumer(properties, reading: [], logger: silent)
            var offsets: [Int64] = []
            var failure: KafkaError?
            do throws(KafkaError) {
                let start = PartitionOffset(partition, offset: 0)
                try await reader.scan([start], within: patience, passesBatches: passesBatches) { record in
                    offsets.append(record.position.offset)
                    return true
                }
            } catch { failure = error }
            #expect(offsets == [0, 1])
            #expect(failure?.batch?.offset == (passesBatches ? nil : 2))
            #expect(await reader.close(within: patience))
        }
    }

    @Test func `a consumer reads on at the end of the batch that a search found`() async throws {
        try await withBatch { properties in
            let place = RecordPosition(topic: "t", partition: 0, offset: 2)
            let end = try await KafkaConsumer.end(ofBatchAt: place, properties, within: patience, logger: silent)
            #expect(end == 5)
            let reader = try KafkaConsumer(
                properties, reading: [PartitionOffset(partition, offset: end)], logger: silent)
            #expect(try await consume(2, from: reader).map(\.position.offset) == [5, 6])
            #expect(await reader.close(within: patience))
        }
    }
}
