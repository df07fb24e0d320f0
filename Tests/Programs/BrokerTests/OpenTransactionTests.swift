import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// Nobody reads records that were committed behind an open transaction: no verdict is given over them.
    @Suite(.timeLimit(.minutes(5))) struct OpenTransactionTests {
        @Test func `a revocation ends with 1 while an open transaction hides tokens, and with 0 after it`() async throws
        {
            try await play { canary in
                let worker = try await canary.startWorker()
                let leaked = try canary.newest()
                let transaction = try await OpenTransaction(canary.shop.partitions(of: [canary.shop.topics.tokens]))
                // All of their tokens lie behind it.
                try await canary.report(20)
                try await canary.does("prepare")
                let refused = try await canary.rotate(
                    "revoke", "--key-version", leaked, "--answer-within", "4s", "--rate", "0")
                #expect(refused.status == 1, "\(refused.outputText)")
                for words in [
                    "of \(canary.shop.topics.tokens) lie behind an open transaction (since 20", "kafka-transactions.sh",
                    "rotate reissue",
                ] {
                    #expect(refused.errorText.contains(words), "\(refused.errorText)")
                }
                await transaction.abort()
                let done = try await canary.rotate("reissue", "--rate", "0")
                #expect(done.status == 0, "\(done.errorText)")
                #expect(done.outputText.contains("20 events sent"), "\(done.outputText)")
                #expect(try await canary.liveTokens(of: leaked) == 0)
                try await canary.does("retire")
                await canary.stop(worker)
            }
        }

        @Test func `a canary is not judged while an open transaction hides letters`() async throws {
            try await play { canary in
                let worker = try await canary.startWorker()
                try await canary.issue(20)
                try await canary.does("prepare")
                try await canary.does("promote", "--now")
                let new = try canary.newest()
                let job = try canary.starts(
                    "reissue", "--canary", "100", "--watch", "15s", "--answer-within", "5s", "--rate", "0")
                try #require(await job.wrote("the canary is answered"), "\(job.errorText)")
                let transaction = try await OpenTransaction(
                    canary.shop.partitions(of: [canary.shop.topics.deadLetters]))
                try await canary.refuse(try await canary.tokens(of: new))
                await job.waitForEnd()
                #expect(job.status == 1, "\(job.outputText)")
                #expect(!job.errorText.contains("the canary passed"), "\(job.errorText)")
                #expect(job.errorText.contains("lie behind an open transaction"), "\(job.errorText)")
                await transaction.abort()
                let judged = try await canary.rotate("reissue", "--canary", "100", "--watch", "1s", "--rate", "0")
                #expect(judged.status == 1, "\(judged.outputText)")
                #expect(judged.errorText.contains("the vendor rejected 20 of 20 canary tokens"), "\(judged.errorText)")
                await canary.stop(worker)
            }
        }

        private func play(_ story: (Canary) async throws -> Void) async throws {
            try await Shop.open(Canary.wishes) { shop in try await story(Canary(shop: shop)) }
        }
    }
}

/// A transaction of somebody else's that has a record in each of some partitions.
private struct OpenTransaction {
    private let producer: KafkaProducer

    init(_ partitions: [TopicPartition]) async throws {
        producer = try KafkaProducer(
            [
                "bootstrap.servers": Cluster.brokers, "transactional.id": "other-\(UUID().uuidString)",
                "transaction.timeout.ms": "600000", "linger.ms": "0",
            ], logger: quiet)
        try await producer.initTransactions(within: .seconds(30))
        try await producer.beginTransaction()
        // The partitioner is the client's: as many keys as it takes until each partition has a record.
        var reached: Set<Int32> = []
        let wanted = Set(partitions.map(\.partition))
        let topic = try #require(partitions.first?.topic)
        let reader = try Cluster.makeReader(of: partitions, isolation: .uncommitted)
        let before = try await ends(of: partitions, reader)
        for number in 0..<200 where reached != wanted {
            let record = ProducerRecord(topic: topic, key: Array("other-\(number)".utf8), value: Array("x".utf8))
            try #require(await producer.deliver([record]).allSatisfy { $0 == nil })
            let now = try await ends(of: partitions, reader)
            reached = Set(partitions.filter { now[$0] != before[$0] }.map(\.partition))
        }
        await reader.close(within: .seconds(5))
    }

    private func ends(
        of partitions: [TopicPartition], _ reader: KafkaConsumer
    ) async throws -> [TopicPartition: Int64] {
        try await reader.bounds(of: partitions, within: .seconds(10)).mapValues(\.upperBound)
    }

    func abort() async {
        await #expect(throws: Never.self) { try await producer.abortTransaction(within: .seconds(30)) }
        await producer.close(within: .seconds(10))
    }
}
