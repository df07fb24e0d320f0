import CRdKafka

/// Transactions (KIP-98, KIP-447). Each call may block for as long as the broker is away; it runs on the producer's own
/// thread, so records handed over before it are inside and records handed over after it are not.
extension KafkaProducer {
    /// Registers the `transactional.id` and ends a predecessor's open transaction. Called once, before the first
    /// transaction.
    ///
    /// - Throws: `KafkaError`.
    public func initTransactions(within limit: Duration) async throws(KafkaError) {
        let milliseconds = limit.kafkaMilliseconds
        try unsafe await transactional("registering the transactional id") {
            unsafe rd_kafka_init_transactions($0, milliseconds)
        }
    }

    /// Begins a transaction.
    ///
    /// - Throws: `KafkaError`.
    public func beginTransaction() async throws(KafkaError) {
        try unsafe await transactional("beginning a transaction") { unsafe rd_kafka_begin_transaction($0) }
    }

    /// Makes `offsets`, each the next record to read, part of the transaction, once per consumer group.
    ///
    /// - Throws: `KafkaError`; where it is retriable, the same call must be repeated with the same arguments.
    public func sendOffsets(
        _ offsets: [PartitionOffset], of group: ConsumerGroupMetadata, within limit: Duration
    ) async throws(KafkaError) {
        let milliseconds = limit.kafkaMilliseconds
        try unsafe await transactional("sending offsets to the transaction") { client in
            let list = PartitionList(offsets)
            return unsafe rd_kafka_send_offsets_to_transaction(client, list.pointer, group.pointer, milliseconds)
        }
    }

    /// Commits. Repeated while the error is retriable, it resumes.
    ///
    /// - Parameter limit: The timeout of one call; nil waits for as long as the brokers take. A commit that times out
    ///   continues in the library, and its error is retriable.
    /// - Throws: `KafkaError`.
    public func commitTransaction(within limit: Duration? = nil) async throws(KafkaError) {
        let milliseconds = limit?.kafkaMilliseconds ?? -1
        try unsafe await transactional("committing the transaction") {
            unsafe rd_kafka_commit_transaction($0, milliseconds)
        }
    }

    /// Aborts. Repeated while the error is retriable, it resumes.
    ///
    /// - Parameter limit: as for `commitTransaction`.
    /// - Throws: `KafkaError`.
    public func abortTransaction(within limit: Duration? = nil) async throws(KafkaError) {
        let milliseconds = limit?.kafkaMilliseconds ?? -1
        try unsafe await transactional("aborting the transaction") {
            unsafe rd_kafka_abort_transaction($0, milliseconds)
        }
    }

    /// Returns the topics that no transaction may write, as far as was found since the last call: the errors of records and
    /// calls do not name them.
    public func takeRefusals() -> Set<String> { client.takeRefusals() }

    private func transactional(
        _ operation: String, _ call: @escaping @Sendable (OpaquePointer) -> OpaquePointer?
    ) async throws(KafkaError) {
        try unsafe await client.blockingThrowing { (pointer) throws(KafkaError) in
            guard let error = unsafe KafkaError(taking: call(pointer), in: operation) else { return }
            // A call after the fatal error reports only that there was one, and not whether another producer took over.
            throw error.isFatal ? unsafe KafkaError(fatalOf: pointer, in: operation) ?? error : error
        }
    }
}
