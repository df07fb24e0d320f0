import CRdKafka
public import Records

/// An error of Kafka, and the reaction that it permits.
///
/// The order in which to ask: `isFenced`, `isFatal`, `requiresAbort`, `isRetriable`; none of them means the same as fatal.
public struct KafkaError: Error, Sendable, Equatable, CustomStringConvertible {
    /// librdkafka's error code by its name, such as `_TRANSPORT` or `UNKNOWN_TOPIC_OR_PART`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        let rawValue: Int32

        init(_ error: rd_kafka_resp_err_t) { rawValue = error.rawValue }

        /// The record is larger than the producer or the topic takes.
        public static let messageTooLarge = Code(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
        /// The topic or partition does not exist.
        public static let unknownTopicOrPartition = Code(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        /// As `unknownTopicOrPartition`, detected by the client itself.
        public static let unknownTopic = Code(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
        /// As `unknownTopicOrPartition`, for a partition alone.
        public static let unknownPartition = Code(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
        /// Writing to the topic is not allowed.
        public static let topicAuthorizationFailed = Code(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
        /// The connection failed.
        public static let transport = Code(RD_KAFKA_RESP_ERR__TRANSPORT)
        /// No broker could be reached.
        public static let allBrokersDown = Code(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        /// The time allowed ran out.
        public static let timedOut = Code(RD_KAFKA_RESP_ERR__TIMED_OUT)
        /// The record waited longer than `message.timeout.ms`.
        public static let messageTimedOut = Code(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
        /// The producer's own queue is full.
        public static let queueFull = Code(RD_KAFKA_RESP_ERR__QUEUE_FULL)
        /// Another producer with the same `transactional.id` took over (the client's finding).
        public static let fenced = Code(RD_KAFKA_RESP_ERR__FENCED)
        /// Another producer with the same `transactional.id` took over (the broker's answer).
        public static let producerFenced = Code(RD_KAFKA_RESP_ERR_PRODUCER_FENCED)
        /// The group has begun another generation.
        public static let illegalGeneration = Code(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION)
        /// The group no longer knows this member.
        public static let unknownMemberID = Code(RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID)
        /// Another live consumer joined the group as the same static member (`group.instance.id`).
        public static let fencedInstance = Code(RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
        /// The group is about to distribute its partitions again.
        public static let rebalanceInProgress = Code(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS)
        /// A consumer's position is outside of the partition's log, and no reset policy names where to continue.
        public static let positionOutOfRange = Code(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
        /// The transactional id's epoch is an old one: another producer took over, or the transaction outlived its timeout.
        public static let invalidProducerEpoch = Code(RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH)
        /// Partitions become this member's.
        static let assignPartitions = Code(RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
        /// Partitions are taken away.
        static let revokePartitions = Code(RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS)
        /// Everything of a partition was read.
        static let partitionEnd = Code(RD_KAFKA_RESP_ERR__PARTITION_EOF)
        /// The broker cannot store the record; usually its disk is full.
        public static let storageError = Code(RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR)
        /// A rule of the broker's refuses the record.
        public static let policyViolation = Code(RD_KAFKA_RESP_ERR_POLICY_VIOLATION)
        /// The broker refuses the record's time, which the client's clock gave it.
        public static let invalidTimestamp = Code(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP)
        /// Too few replicas of the partition are there.
        public static let notEnoughReplicas = Code(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS)
        /// As `notEnoughReplicas`, detected after the record was written.
        public static let notEnoughReplicasAfterAppend = Code(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        /// A compacted topic refuses a record, for instance one without a key.
        public static let invalidRecord = Code(RD_KAFKA_RESP_ERR_INVALID_RECORD)
        /// A partition got a record whose number in the producer's own count is not the next.
        public static let outOfOrderSequence = Code(RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER)
        /// The record was dropped with its transaction.
        public static let purged = Code(RD_KAFKA_RESP_ERR__PURGE_QUEUE)
        /// As `purged`, for a record that was on its way.
        public static let purgedInFlight = Code(RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
        /// The partitions were taken away without being asked back.
        public static let assignmentLost = Code(RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST)
        /// There is nothing to commit.
        public static let noOffset = Code(RD_KAFKA_RESP_ERR__NO_OFFSET)
        /// A record batch cannot be unpacked: it is damaged, or larger than `receive.message.max.bytes` once unpacked.
        static let badCompression = Code(RD_KAFKA_RESP_ERR__BAD_COMPRESSION)
        /// The checksum of a record batch is wrong. Only with `check.crcs`.
        static let badMessage = Code(RD_KAFKA_RESP_ERR__BAD_MSG)
        /// The library has not the codec of a record batch.
        static let notImplemented = Code(RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED)
        /// The client was closed.
        public static let closed = Code(RD_KAFKA_RESP_ERR__DESTROY)
        /// The operation is not allowed in the client's state.
        public static let invalidState = Code(RD_KAFKA_RESP_ERR__STATE)
        /// A property or an argument is not valid.
        public static let invalidArgument = Code(RD_KAFKA_RESP_ERR__INVALID_ARG)
        /// The group's or the transaction's coordinator is not available.
        public static let notAvailable = Code(RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE)
        /// Another broker is the coordinator.
        public static let notCoordinator = Code(RD_KAFKA_RESP_ERR_NOT_COORDINATOR)
        /// The coordinator still reads what it has to know.
        public static let loading = Code(RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS)

        /// The host's name is not known.
        public static let unknownHost = Code(RD_KAFKA_RESP_ERR__RESOLVE)
        /// There is no agreement on TLS, or a certificate is refused.
        public static let tls = Code(RD_KAFKA_RESP_ERR__SSL)
        /// The broker does not know the account, or its proof is wrong (detected by the client).
        public static let authentication = Code(RD_KAFKA_RESP_ERR__AUTHENTICATION)
        /// As `authentication`, reported by the broker.
        public static let saslAuthenticationFailed = Code(RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED)
        /// The brokers allow no session timeout like the consumer's.
        public static let invalidSessionTimeout = Code(RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT)
        /// The group's members distribute partitions in another way.
        public static let inconsistentProtocol = Code(RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL)
        /// The brokers accept no group of that name.
        public static let invalidGroupID = Code(RD_KAFKA_RESP_ERR_INVALID_GROUP_ID)
        /// The group has as many members as the brokers allow.
        public static let groupIsFull = Code(RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED)
        /// The brokers allow no transaction timeout as long as the producer's.
        public static let invalidTransactionTimeout = Code(RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT)
        /// Using the transactional id is not allowed.
        public static let transactionalIDAuthorizationFailed = Code(
            RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        /// Something about the cluster as a whole is not allowed, for instance producing idempotently.
        public static let clusterAuthorizationFailed = Code(RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED)
        /// Using the group is not allowed.
        public static let groupAuthorizationFailed = Code(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)

        /// Whether the error means that a consumer gets nothing until an operator acts: the topic is gone, or reading
        /// it is not allowed.
        public var isAboutReading: Bool {
            switch self {
            case .unknownTopicOrPartition, .unknownTopic, .topicAuthorizationFailed, .groupAuthorizationFailed: true
            default: false
            }
        }

        /// Whether the error means that the group's coordinator refuses a member for its properties, until an operator acts.
        public var isJoinRefused: Bool {
            [.invalidSessionTimeout, .inconsistentProtocol, .invalidGroupID, .groupIsFull].contains(self)
        }

        /// Whether the error is about one record batch, which the library fetches again and again.
        var isAboutBatch: Bool {
            [.badCompression, .badMessage, .notImplemented, .messageTooLarge].contains(self)
        }

        /// Whether the error passes once a coordinator is chosen and has begun, as on a cluster that has just started.
        public var isAboutNewCoordinator: Bool { [.notAvailable, .notCoordinator, .loading].contains(self) }

        /// Whether the error means that a connection failed, which the client tries again and its library logs.
        public var isConnection: Bool {
            [.transport, .allBrokersDown, .timedOut, .unknownHost].contains(self)
        }

        /// Whether the error means that a topic cannot be written until an operator acts.
        public var isAboutTopic: Bool {
            switch self {
            case .unknownTopicOrPartition, .unknownTopic, .unknownPartition, .topicAuthorizationFailed,
                .messageTimedOut, .storageError, .policyViolation, .notEnoughReplicas, .notEnoughReplicasAfterAppend,
                .invalidRecord, .messageTooLarge:
                true
            default: false
            }
        }

        /// The code's name.
        public var description: String {
            unsafe String(cString: rd_kafka_err2name(rd_kafka_resp_err_t(rawValue: rawValue)))
        }
    }

    /// The kind of failure.
    public let code: Code
    /// The error in one line, for people. It never contains a property's value or a record's bytes.
    public let message: String
    /// Whether the same call with the same arguments may succeed.
    public let isRetriable: Bool
    /// Whether the client is of no further use.
    public let isFatal: Bool
    /// Whether the open transaction must be aborted.
    public let requiresAbort: Bool
    /// The first offset of a record batch that a consumer cannot unpack; nil for every other error.
    public private(set) var batch: RecordPosition?
    /// Whether a reader of one topic gets no further: the client is of no use, or the topic or a batch cannot be read.
    public var endsReading: Bool { isFatal || code.isAboutReading || batch != nil }

    /// Whether another client took over this producer's `transactional.id` or this consumer's `group.instance.id`. librdkafka 2.0.2 marks some of these as merely
    /// requiring an abort; they are final all the same. A fatal old epoch is another one's doing, too: a producer that took the id back
    /// by registering it again would fence the other in turn, for ever.
    public var isFenced: Bool {
        code == .fenced || code == .producerFenced || code == .fencedInstance
            || isFatal && code == .invalidProducerEpoch
    }

    /// The error of a transaction's offsets before the consumer joined its group.
    static let isNoMember = KafkaError(.unknownMemberID, "the consumer is not a member of its group yet")

    static let clientIsClosed = KafkaError(.closed, "the client is closed")

    /// Returns the error of a caller whose wait for `operation` timed out.
    public static func overdue(_ operation: String) -> KafkaError {
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
    public static func canceled(_ operation: String) -> KafkaError { KafkaError(.closed, "\(operation): canceled") }

    /// Returns this error with `cause` in its message, if both mean that a connection failed: a call that found no broker
    /// does not know why.
    public func explained(by cause: KafkaError?) -> KafkaError {
        guard code.isConnection, let cause, cause != self else { return self }
        return KafkaError(
            code, "\(message): \(cause.message)", isRetriable: isRetriable, isFatal: isFatal,
            requiresAbort: requiresAbort)
    }

    /// Returns this error with `cause`, which came first, in its message.
    public func following(_ cause: KafkaError) -> KafkaError {
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

    /// The error in words, with its code.
    public var description: String { "\(message) (\(code))" }
}
