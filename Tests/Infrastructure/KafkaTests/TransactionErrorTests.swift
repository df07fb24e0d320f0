import Kafka
import Testing

/// The result of each transaction call if the broker answers a request with an error: the table behind a worker's loop,
/// as librdkafka 2.0.2 has it.
@Suite(.timeLimit(.minutes(5))) struct TransactionErrorTests {
    /// A call of a transaction.
    enum Call: Sendable { case initTransactions, sendOffsets, commit, abort }

    /// The result of the call.
    enum Outcome: Sendable, Equatable {
        case success
        case retriable(KafkaError.Code)
        case abort(KafkaError.Code)
        case fatal(KafkaError.Code)
        case noFlag(KafkaError.Code)

        init(_ error: KafkaError?) {
            guard let error else { self = .success; return }
            if error.isFatal {
                self = .fatal(error.code)
            } else if error.requiresAbort {
                self = .abort(error.code)
            } else if error.isRetriable {
                self = .retriable(error.code)
            } else {
                self = .noFlag(error.code)
            }
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let call: Call
        let request: EmbeddedBroker.Request
        let error: EmbeddedBroker.ResponseError
        let outcome: Outcome

        init(_ call: Call, _ request: EmbeddedBroker.Request, _ error: EmbeddedBroker.ResponseError, _ outcome: Outcome)
        {
            self.call = call
            self.request = request
            self.error = error
            self.outcome = outcome
        }

        /// Whether the broker reported that another producer took over; never anything to go on from, whatever the
        /// flags.
        var isFencing: Bool { outcome != .success && (error == .producerFenced || error == .invalidProducerEpoch) }

        var testDescription: String { "\(call), \(request) answered with \(error): \(outcome)" }
    }

    /// The library repeats a request whose error passes by itself, so none of these is retriable.
    static let table: [Case] = [
        Case(.initTransactions, .findCoordinator, .coordinatorNotAvailable, .success),
        Case(.initTransactions, .findCoordinator, .notCoordinator, .success),
        Case(.initTransactions, .findCoordinator, .concurrentTransactions, .success),
        Case(.initTransactions, .findCoordinator, .connectionDropped, .success),
        Case(.initTransactions, .initProducerID, .coordinatorNotAvailable, .success),
        Case(.initTransactions, .initProducerID, .notCoordinator, .success),
        Case(.initTransactions, .initProducerID, .concurrentTransactions, .success),
        Case(.initTransactions, .initProducerID, .connectionDropped, .success),
        Case(.initTransactions, .initProducerID, .producerFenced, .fatal(.fenced)),
        Case(.initTransactions, .initProducerID, .invalidProducerEpoch, .fatal(.fenced)),
        Case(.sendOffsets, .addOffsetsToTransaction, .coordinatorNotAvailable, .success),
        Case(.sendOffsets, .addOffsetsToTransaction, .notCoordinator, .success),
        Case(.sendOffsets, .addOffsetsToTransaction, .concurrentTransactions, .success),
        Case(.sendOffsets, .addOffsetsToTransaction, .connectionDropped, .success),
        Case(.sendOffsets, .addOffsetsToTransaction, .producerFenced, .abort(.fenced)),
        Case(.sendOffsets, .addOffsetsToTransaction, .invalidProducerEpoch, .fatal(.fenced)),
        Case(.sendOffsets, .addOffsetsToTransaction, .illegalGeneration, .abort(.illegalGeneration)),
        Case(.sendOffsets, .addOffsetsToTransaction, .unknownMemberID, .abort(.unknownMemberID)),
        Case(.sendOffsets, .addOffsetsToTransaction, .rebalanceInProgress, .abort(.rebalanceInProgress)),
        Case(.sendOffsets, .addOffsetsToTransaction, .topicAuthorizationFailed, .abort(.topicAuthorizationFailed)),
        Case(.sendOffsets, .transactionOffsetCommit, .coordinatorNotAvailable, .success),
        Case(.sendOffsets, .transactionOffsetCommit, .notCoordinator, .success),
        Case(.sendOffsets, .transactionOffsetCommit, .concurrentTransactions, .success),
        Case(.sendOffsets, .transactionOffsetCommit, .connectionDropped, .success),
        Case(.sendOffsets, .transactionOffsetCommit, .producerFenced, .abort(.fenced)),
        Case(.sendOffsets, .transactionOffsetCommit, .invalidProducerEpoch, .fatal(.fenced)),
        Case(.sendOffsets, .transactionOffsetCommit, .illegalGeneration, .abort(.illegalGeneration)),
        Case(.sendOffsets, .transactionOffsetCommit, .unknownMemberID, .abort(.unknownMemberID)),
        Case(.sendOffsets, .transactionOffsetCommit, .rebalanceInProgress, .abort(.rebalanceInProgress)),
        Case(.sendOffsets, .transactionOffsetCommit, .topicAuthorizationFailed, .abort(.topicAuthorizationFailed)),
        Case(.commit, .produce, .coordinatorNotAvailable, .success),
        Case(.commit, .produce, .notCoordinator, .success),
        Case(.commit, .produce, .connectionDropped, .success),
        Case(.commit, .produce, .producerFenced, .abort(.producerFenced)),
        Case(.commit, .produce, .invalidProducerEpoch, .fatal(.fenced)),
        Case(.commit, .produce, .illegalGeneration, .abort(.illegalGeneration)),
        Case(.commit, .produce, .unknownMemberID, .abort(.unknownMemberID)),
        Case(.commit, .produce, .rebalanceInProgress, .abort(.rebalanceInProgress)),
        Case(.commit, .produce, .topicAuthorizationFailed, .abort(.topicAuthorizationFailed)),
        Case(.commit, .addPartitionsToTransaction, .coordinatorNotAvailable, .success),
        Case(.commit, .addPartitionsToTransaction, .notCoordinator, .success),
        Case(.commit, .addPartitionsToTransaction, .concurrentTransactions, .success),
        Case(.commit, .addPartitionsToTransaction, .connectionDropped, .success),
        Case(.commit, .addPartitionsToTransaction, .producerFenced, .fatal(.fenced)),
        Case(.commit, .addPartitionsToTransaction, .invalidProducerEpoch, .fatal(.fenced)),
        Case(.commit, .addPartitionsToTransaction, .illegalGeneration, .abort(.illegalGeneration)),
        Case(.commit, .addPartitionsToTransaction, .unknownMemberID, .abort(.unknownMemberID)),
        Case(.commit, .addPartitionsToTransaction, .rebalanceInProgress, .abort(.rebalanceInProgress)),
        Case(.commit, .addPartitionsToTransaction, .topicAuthorizationFailed, .abort(.topicAuthorizationFailed)),
        Case(.commit, .endTransaction, .coordinatorNotAvailable, .success),
        Case(.commit, .endTransaction, .notCoordinator, .success),
        Case(.commit, .endTransaction, .concurrentTransactions, .success),
        Case(.commit, .endTransaction, .connectionDropped, .success),
        Case(.commit, .endTransaction, .producerFenced, .fatal(.fenced)),
        Case(.commit, .endTransaction, .invalidProducerEpoch, .fatal(.fenced)),
        Case(.commit, .endTransaction, .illegalGeneration, .abort(.illegalGeneration)),
        Case(.commit, .endTransaction, .unknownMemberID, .abort(.unknownMemberID)),
        Case(.commit, .endTransaction, .rebalanceInProgress, .abort(.rebalanceInProgress)),
        Case(.commit, .endTransaction, .topicAuthorizationFailed, .abort(.topicAuthorizationFailed)),
        Case(.abort, .endTransaction, .coordinatorNotAvailable, .success),
        Case(.abort, .endTransaction, .notCoordinator, .success),
        Case(.abort, .endTransaction, .concurrentTransactions, .success),
        Case(.abort, .endTransaction, .connectionDropped, .success),
        Case(.abort, .endTransaction, .producerFenced, .fatal(.fenced)),
        Case(.abort, .endTransaction, .invalidProducerEpoch, .fatal(.fenced)),
        Case(.abort, .endTransaction, .illegalGeneration, .abort(.illegalGeneration)),
        Case(.abort, .endTransaction, .unknownMemberID, .abort(.unknownMemberID)),
        Case(.abort, .endTransaction, .rebalanceInProgress, .abort(.rebalanceInProgress)),
        Case(.abort, .endTransaction, .topicAuthorizationFailed, .abort(.topicAuthorizationFailed)),
    ]

    @Test(arguments: table) func `a transaction's error is classified as its table row states`(_ row: Case) async throws
    {
        let properties: ClientProperties = [
            "transactional.id": "x", "retry.backoff.ms": "20", "reconnect.backoff.ms": "10",
        ]
        let found = try await withBroker(topics: ["t": 1]) { broker in
            let producer = try KafkaProducer(producerProperties(broker).merging(properties), logger: silent)
            let found = try await error(of: row, broker, producer)
            await producer.close(within: .zero)
            return found
        }
        #expect(Outcome(found) == row.outcome)
        #expect(found?.isFenced ?? false == row.isFencing)
    }

    /// The error of the call under test, on a transaction that went well until there.
    private func error(of row: Case, _ broker: EmbeddedBroker, _ producer: KafkaProducer) async throws -> KafkaError? {
        let fault = EmbeddedBroker.Fault.errors(row.request, [row.error])
        if row.call == .initTransactions {
            try await broker.inject(fault)
            return await thrown { () throws(KafkaError) in try await producer.initTransactions(within: patience) }
        }
        try await producer.initTransactions(within: patience)
        try await producer.beginTransaction()
        // The errors of records and of their partitions come out in the commit.
        if row.call == .commit, row.request != .endTransaction { try await broker.inject(fault) }
        _ = await producer.deliver(numbered(1))
        if row.request == .endTransaction { try await broker.inject(fault) }
        switch row.call {
        case .initTransactions: return nil
        case .commit: return await thrown { () throws(KafkaError) in try await producer.commitTransaction() }
        case .abort: return await thrown { () throws(KafkaError) in try await producer.abortTransaction() }
        case .sendOffsets:
            return try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                try await broker.inject(fault)
                let offset = PartitionOffset(TopicPartition(topic: "t", partition: 0), offset: 1)
                let group = try await consumer.groupMetadata()
                return await thrown { () throws(KafkaError) in
                    try await producer.sendOffsets([offset], of: group, within: patience)
                }
            }
        }
    }

    private func thrown(_ call: () async throws(KafkaError) -> Void) async -> KafkaError? {
        do { try await call() } catch { return error }
        return nil
    }
}
