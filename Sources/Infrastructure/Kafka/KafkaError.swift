import CRdKafka
package import Records

/// An error of Kafka, and the reaction that it permits.
///
/// The order in which to ask: `isFenced`, `isFatal`, `requiresAbort`, `isRetriable`; none of them means the same as fatal.
package struct KafkaError: Error, Sendable, Equatable, CustomStringConvertible {
    /// librdkafka's error code by its name, such as `_TRANSPORT` or `UNKNOWN_TOPIC_OR_PART`.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        let rawValue: Int32

        init(_ error: rd_kafka_resp_err_t) { rawValue = error.rawValue }

        /// The record is larger than the producer or the topic takes.
        package static let messageTooLarge = Code(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
        package static let unknownTopicOrPartition = Code(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        /// As `unknownTopicOrPartition`, detected by the client itself.
        package static let unknownTopic = Code(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
        /// As `unknownTopicOrPartition`, for a partition alone.
        package static let unknownPartition = Code(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
        package static let topicAuthorizationFailed = Code(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
        package static let transport = Code(RD_KAFKA_RESP_ERR__TRANSPORT)
        package static let allBrokersDown = Code(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        package static let timedOut = Code(RD_KAFKA_RESP_ERR__TIMED_OUT)
        /// The record waited longer than `message.timeout.ms`.
        package static let messageTimedOut = Code(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
        /// Another producer with the same `transactional.id` took over (the client's finding).
        package static let fenced = Code(RD_KAFKA_RESP_ERR__FENCED)
        /// Another producer with the same `transactional.id` took over (the broker's answer).
        package static let producerFenced = Code(RD_KAFKA_RESP_ERR_PRODUCER_FENCED)
        package static let illegalGeneration = Code(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION)
        package static let unknownMemberID = Code(RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID)
        /// Another live consumer joined the group as the same static member (`group.instance.id`).
        package static let fencedInstance = Code(RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
        package static let rebalanceInProgress = Code(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS)
        /// A consumer's position is outside of the partition's log, and no reset policy names where to continue.
        package static let positionOutOfRange = Code(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
        /// The transactional id's epoch is an old one: another producer took over, or the transaction outlived its timeout.
        package static let invalidProducerEpoch = Code(RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH)
        static let assignPartitions = Code(RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
        static let revokePartitions = Code(RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS)
        static let partitionEnd = Code(RD_KAFKA_RESP_ERR__PARTITION_EOF)
        /// The broker cannot store the record; usually its disk is full.
        package static let storageError = Code(RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR)
        package static let policyViolation = Code(RD_KAFKA_RESP_ERR_POLICY_VIOLATION)
        /// The broker refuses the record's time, which the client's clock gave it.
        package static let invalidTimestamp = Code(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP)
        package static let notEnoughReplicas = Code(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS)
        /// As `notEnoughReplicas`, detected after the record was written.
        package static let notEnoughReplicasAfterAppend = Code(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        /// A compacted topic refuses a record, for instance one without a key.
        package static let invalidRecord = Code(RD_KAFKA_RESP_ERR_INVALID_RECORD)
        /// A partition got a record whose number in the producer's own count is not the next.
        package static let outOfOrderSequence = Code(RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER)
        /// The record was dropped with its transaction.
        package static let purged = Code(RD_KAFKA_RESP_ERR__PURGE_QUEUE)
        /// As `purged`, for a record that was on its way.
        package static let purgedInFlight = Code(RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
        /// The partitions were taken away without being asked back.
        package static let assignmentLost = Code(RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST)
        /// A record batch cannot be unpacked: it is damaged, or larger than `receive.message.max.bytes` once unpacked.
        static let badCompression = Code(RD_KAFKA_RESP_ERR__BAD_COMPRESSION)
        /// The checksum of a record batch is wrong. Only with `check.crcs`.
        static let badMessage = Code(RD_KAFKA_RESP_ERR__BAD_MSG)
        /// The library has not the codec of a record batch.
        static let notImplemented = Code(RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED)
        package static let closed = Code(RD_KAFKA_RESP_ERR__DESTROY)
        package static let invalidState = Code(RD_KAFKA_RESP_ERR__STATE)
        package static let invalidArgument = Code(RD_KAFKA_RESP_ERR__INVALID_ARG)
        package static let notAvailable = Code(RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE)
        package static let notCoordinator = Code(RD_KAFKA_RESP_ERR_NOT_COORDINATOR)
        /// The coordinator still reads what it has to know.
        package static let loading = Code(RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS)

        package static let unknownHost = Code(RD_KAFKA_RESP_ERR__RESOLVE)
        /// There is no agreement on TLS, or a certificate is refused.
        package static let tls = Code(RD_KAFKA_RESP_ERR__SSL)
        /// The broker does not know the account, or its proof is wrong (detected by the client).
        package static let authentication = Code(RD_KAFKA_RESP_ERR__AUTHENTICATION)
        /// As `authentication`, reported by the broker.
        package static let saslAuthenticationFailed = Code(RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED)
        /// The brokers allow no session timeout like the consumer's.
        package static let invalidSessionTimeout = Code(RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT)
        package static let inconsistentProtocol = Code(RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL)
        package static let invalidGroupID = Code(RD_KAFKA_RESP_ERR_INVALID_GROUP_ID)
        package static let groupIsFull = Code(RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED)
        /// The brokers allow no transaction timeout as long as the producer's.
        package static let invalidTransactionTimeout = Code(RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT)
        package static let transactionalIDAuthorizationFailed = Code(
            RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        /// Something about the cluster as a whole is not allowed, for instance producing idempotently.
        package static let clusterAuthorizationFailed = Code(RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED)
        package static let groupAuthorizationFailed = Code(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)

        /// Whether the error means that a consumer gets nothing until an operator acts: the topic is gone, or reading
        /// it is not allowed.
        package var isAboutReading: Bool {
            switch self {
            case .unknownTopicOrPartition, .unknownTopic, .topicAuthorizationFailed, .groupAuthorizationFailed: true
            default: false
            }
        }

        /// Whether the error means that the group's coordinator refuses a member for its properties, until an operator acts.
        package var isJoinRefused: Bool {
            [.invalidSessionTimeout, .inconsistentProtocol, .invalidGroupID, .groupIsFull].contains(self)
        }

        /// Whether the error is about one record batch, which the library fetches again and again.
        var isAboutBatch: Bool {
            [.badCompression, .badMessage, .notImplemented, .messageTooLarge].contains(self)
        }

        /// Whether the error passes once a coordinator is chosen and has begun, as on a cluster that has just started.
        package var isAboutNewCoordinator: Bool { [.notAvailable, .notCoordinator, .loading].contains(self) }

        /// Whether the error means that a connection failed, which the client tries again and its library logs.
        package var isConnection: Bool {
            [.transport, .allBrokersDown, .timedOut, .unknownHost].contains(self)
        }

        /// Whether the error means that a topic cannot be written until an operator acts.
        package var isAboutTopic: Bool {
            switch self {
            case .unknownTopicOrPartition, .unknownTopic, .unknownPartition, .topicAuthorizationFailed,
                .messageTimedOut, .storageError, .policyViolation, .notEnoughReplicas, .notEnoughReplicasAfterAppend,
                .invalidRecord, .messageTooLarge:
                true
            default: false
            }
        }

        package var description: String {
            unsafe String(cString: rd_kafka_err2name(rd_kafka_resp_err_t(rawValue: rawValue)))
        }
    }

    package let code: Code
    /// The error in one line, for people. It never contains a property's value or a record's bytes.
    package let message: String
    /// Whether the same call with the same arguments may succeed.
    package let isRetriable: Bool
    /// Whether the client is of no further use.
    package let isFatal: Bool
    /// Whether the open transaction must be aborted.
    package let requiresAbort: Bool
    /// The first offset of a record batch that a consumer cannot unpack; nil for every other error.
    package private(set) var batch: RecordPosition?
    /// Whether a reader of one topic gets no further: the client is of no use, or the topic or a batch cannot be read.
    package var endsReading: Bool { isFatal || code.isAboutReading || batch != nil }

    /// Whether another client took over this producer's `transactional.id` or this consumer's `group.instance.id`. librdkafka 2.0.2 marks some of these as merely
    /// requiring an abort; they are final all the same. A fatal old epoch is another one's doing, too: a producer that took the id back
    /// by registering it again would fence the other in turn, for ever.
    package var isFenced: Bool {
        code == .fenced || code == .producerFenced || code == .fencedInstance
            || isFatal && code == .invalidProducerEpoch
    }

    /// The error of a transaction's offsets before the consumer joined its group.
    static let isNoMember = KafkaError(.unknownMemberID, "the consumer is not a member of its group yet")

    static let clientIsClosed = KafkaError(.closed, "the client is closed")

    /// Returns the error of a caller whose wait for `operation` timed out.
    package static func overdue(_ operation: String) -> KafkaError {
        KafkaError(.timedOut, "\(operation): no answer in time")
    }

    /// Returns this error as the error of the record batch at `place`.
    func of(batch place: RecordPosition) -> KafkaError {
        var error = KafkaError(
            code,
            "the record batch at offset \(place.offset) of \(TopicPartition(place)) cannot be unpacked: \(message)")
        error.batch = place
        return error
    }

    /// The error of an `operation` whose task was canceled.
    package static func canceled(_ operation: String) -> KafkaError { KafkaError(.closed, "\(operation): canceled") }

    /// Returns this error with `cause` in its message, if both mean that a connection failed: a call that found no broker
    /// does not know why.
    package func explained(by cause: KafkaError?) -> KafkaError {
        guard code.isConnection, let cause, cause != self else { return self }
        return KafkaError(
            code, "\(message): \(cause.message)", isRetriable: isRetriable, isFatal: isFatal,
            requiresAbort: requiresAbort)
    }

    /// Returns this error with `cause`, which came first, in its message.
    package func following(_ cause: KafkaError) -> KafkaError {
        KafkaError(
            code, "\(cause); then \(message)", isRetriable: isRetriable, isFatal: isFatal, requiresAbort: requiresAbort)
    }

    init(
        _ code: Code, _ message: String, isRetriable: Bool = false, isFatal: Bool = false, requiresAbort: Bool = false
    ) {
        self.code = code
        self.message = message
        self.isRetriable = isRetriable
        self.isFatal = isFatal
        self.requiresAbort = requiresAbort
    }

    /// The error of a call that answers with a code alone; nil for success.
    init?(_ error: rd_kafka_resp_err_t, in operation: String) {
        guard error != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        self.init(
            Code(error), unsafe "\(operation): \(String(cString: rd_kafka_err2str(error)))",
            isFatal: error == RD_KAFKA_RESP_ERR__FATAL)
    }

    /// The error of a record or a call of `client`; nil for success. After a fatal error, the code is only that there was
    /// one: then this is the fatal error itself, which may be that another client took over.
    init?(_ error: rd_kafka_resp_err_t, in operation: String, of client: OpaquePointer) {
        let fatal =
            error == RD_KAFKA_RESP_ERR__FATAL ? unsafe KafkaError(fatalOf: client, in: operation) : nil
        guard let found = fatal ?? KafkaError(error, in: operation) else { return nil }
        self = found
    }

    /// The fatal error of `client`; nil where it has none.
    ///
    /// - Parameter operation: the call that met it; nil where none did.
    init?(fatalOf client: OpaquePointer, in operation: String? = nil) {
        var text = [CChar](repeating: 0, count: 512)
        let code = unsafe rd_kafka_fatal_error(client, &text, text.count)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        let reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.init(Code(code), operation.map { "\($0): \(reason)" } ?? reason, isFatal: true)
    }

    /// The error of a call that answers with an object, which is copied out and destroyed here; nil for success.
    init?(taking error: OpaquePointer?, in operation: String) {
        guard let error = unsafe error else { return nil }
        defer { unsafe rd_kafka_error_destroy(error) }
        unsafe self.init(
            Code(rd_kafka_error_code(error)), unsafe "\(operation): \(String(cString: rd_kafka_error_string(error)))",
            isRetriable: unsafe rd_kafka_error_is_retriable(error) == 1,
            isFatal: unsafe rd_kafka_error_is_fatal(error) == 1,
            requiresAbort: unsafe rd_kafka_error_txn_requires_abort(error) == 1)
    }

    package var description: String { "\(message) (\(code))" }
}
