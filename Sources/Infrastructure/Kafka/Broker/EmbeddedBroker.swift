import CRdKafka
import Glibc
package import Logging

/// librdkafka's own mock cluster, for demonstrations and tests: brokers on loopback, in this process, in memory.
///
/// It speaks the protocol and keeps little of it: no transaction is isolated, nothing is compacted, a partition holds some
/// 5 MiB. A worker on it is at least once.
package actor EmbeddedBroker {
    private let host: ClientHandle
    private var cluster: MockCluster?
    /// The value of `bootstrap.servers` for its clients.
    package nonisolated let bootstrapServers: String

    /// Starts `brokers` brokers on ports the system chooses.
    ///
    /// - Throws: `KafkaError` when they cannot be started.
    package init(brokers: Int = 1, logger: Logger) throws(KafkaError) {
        host = try ClientHandle(RD_KAFKA_PRODUCER, [:], events: RD_KAFKA_EVENT_LOG, logger: logger)
        let handle = host
        guard let cluster = unsafe rd_kafka_mock_cluster_new(host.pointer, Int32(clamping: brokers)) else {
            unsafe handle.enqueue { _ in handle.destroy() }
            throw KafkaError(.invalidState, "the embedded broker could not be started")
        }
        self.cluster = unsafe MockCluster(pointer: cluster)
        bootstrapServers = unsafe String(cString: rd_kafka_mock_cluster_bootstraps(cluster))
        SocketOptions.disableNagle(ports: Self.ports(bootstrapServers))
    }

    /// Creates a topic with `partitions` partitions.
    ///
    /// - Throws: `KafkaError`, for instance for a name that is none or taken.
    package func createTopic(_ name: String, partitions: Int) throws(KafkaError) {
        guard let cluster else { throw KafkaError(.closed, "the embedded broker is closed") }
        let code = unsafe rd_kafka_mock_topic_create(cluster.pointer, name, Int32(clamping: partitions), 1)
        if let error = KafkaError(code, in: "creating the topic \(name)") { throw error }
    }

    package enum Fault: Sendable {
        /// The next requests of this kind are answered with these errors, one each, in order.
        case errors(Request, [ResponseError])
        /// The member that sends the next heartbeat learns that another member has its place.
        case memberFenced
        /// The next request to produce is refused, because its records' times are too far ahead.
        case timeRefused
        /// Requests of this kind are answered as usual again, whatever errors are left.
        case noErrors(Request)
        /// Every request for this topic fails with this error; nil ends that.
        case topic(String, ResponseError?)
        /// The partition is led by this broker; nil takes its leader away.
        case leader(TopicPartition, Int32?)
        /// The broker refuses connections.
        case brokerDown(Int32)
        case brokerUp(Int32)
        /// The broker answers after this many milliseconds.
        case brokerDelay(Int32, milliseconds: Int32)
    }

    /// The requests that can be made to fail, by Kafka's API keys.
    package enum Request: Int16, Sendable, CaseIterable {
        case produce = 0, fetch = 1, metadata = 3, offsetCommit = 8, offsetFetch = 9, findCoordinator = 10
        case joinGroup = 11, heartbeat = 12, leaveGroup = 13, syncGroup = 14, initProducerID = 22
        case addPartitionsToTransaction = 24, addOffsetsToTransaction = 25, endTransaction = 26
        case transactionOffsetCommit = 28
    }

    /// An error that answers a request.
    package enum ResponseError: Sendable, CaseIterable {
        case connectionDropped
        case unknownTopicOrPartition, notLeader, requestTimedOut, messageTooLarge, topicAuthorizationFailed
        case groupAuthorizationFailed
        case coordinatorNotAvailable, notCoordinator, illegalGeneration, unknownMemberID, rebalanceInProgress
        case producerFenced, invalidProducerEpoch, concurrentTransactions

        var code: rd_kafka_resp_err_t {
            switch self {
            case .connectionDropped: RD_KAFKA_RESP_ERR__TRANSPORT
            case .unknownTopicOrPartition: RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
            case .notLeader: RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION
            case .requestTimedOut: RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT
            case .messageTooLarge: RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE
            case .topicAuthorizationFailed: RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED
            case .groupAuthorizationFailed: RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED
            case .coordinatorNotAvailable: RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE
            case .notCoordinator: RD_KAFKA_RESP_ERR_NOT_COORDINATOR
            case .illegalGeneration: RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION
            case .unknownMemberID: RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID
            case .rebalanceInProgress: RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS
            case .producerFenced: RD_KAFKA_RESP_ERR_PRODUCER_FENCED
            case .invalidProducerEpoch: RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH
            case .concurrentTransactions: RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS
            }
        }
    }

    /// Disturbs the cluster.
    ///
    /// - Throws: `KafkaError` for a broker that does not exist.
    package func inject(_ fault: Fault) throws(KafkaError) {
        guard let cluster = unsafe cluster?.pointer else { throw KafkaError(.closed, "the embedded broker is closed") }
        var code = RD_KAFKA_RESP_ERR_NO_ERROR
        switch fault {
        case .errors(let request, let errors):
            let codes = errors.map(\.code)
            unsafe rd_kafka_mock_push_request_errors_array(cluster, request.rawValue, codes.count, codes)
        case .memberFenced:
            unsafe rd_kafka_mock_push_request_errors_array(
                cluster, Request.heartbeat.rawValue, 1, [RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID])
        case .timeRefused:
            unsafe rd_kafka_mock_push_request_errors_array(
                cluster, Request.produce.rawValue, 1, [RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP])
        case .noErrors(let request): unsafe rd_kafka_mock_clear_request_errors(cluster, request.rawValue)
        case .topic(let topic, let error):
            unsafe rd_kafka_mock_topic_set_error(cluster, topic, error?.code ?? RD_KAFKA_RESP_ERR_NO_ERROR)
        case .leader(let partition, let broker):
            code = unsafe rd_kafka_mock_partition_set_leader(
                cluster, partition.topic, partition.partition, broker ?? -1)
        case .brokerDown(let broker): code = unsafe rd_kafka_mock_broker_set_down(cluster, broker)
        case .brokerUp(let broker):
            code = unsafe rd_kafka_mock_broker_set_up(cluster, broker)
            // A broker that comes back listens again.
            SocketOptions.disableNagle(ports: Self.ports(bootstrapServers))
        case .brokerDelay(let broker, let milliseconds):
            code = unsafe rd_kafka_mock_broker_set_rtt(cluster, broker, milliseconds)
        }
        if let error = KafkaError(code, in: "disturbing the embedded broker") { throw error }
    }

    /// Ends the brokers, after every client of theirs was closed.
    package func close() async {
        guard let cluster else { return }
        self.cluster = nil
        let host = host
        unsafe await host.blocking { _ in
            unsafe rd_kafka_mock_cluster_destroy(cluster.pointer)
            host.destroy()
        }
    }

    /// The properties that clients of this broker need beyond its address. The broker does not wake a waiting fetch,
    /// and it rebalances only when sessions end.
    package static let clientProperties: ClientProperties = [
        "fetch.wait.max.ms": "10", "session.timeout.ms": "6000", "heartbeat.interval.ms": "500",
    ]

    private static func ports(_ bootstrapServers: String) -> Set<UInt16> {
        Set(bootstrapServers.split(separator: ",").compactMap { $0.split(separator: ":").last.flatMap { UInt16($0) } })
    }
}

/// A mock cluster's pointer.
///
/// `@unchecked Sendable`: the cluster has a lock of its own; the actor that holds it destroys it once.
@safe
private struct MockCluster: @unchecked Sendable {
    let pointer: OpaquePointer
}

/// The mock cluster leaves Nagle's algorithm on, which costs some 35 ms per transaction.
private enum SocketOptions {
    /// Turns it off on our own listening sockets, found by their ports; accepted connections inherit that.
    static func disableNagle(ports: Set<UInt16>) {
        for descriptor in 0..<Int32(1024) {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let found = unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe getsockname(descriptor, $0, &length) == 0
                }
            }
            guard found, address.sin_family == sa_family_t(AF_INET), ports.contains(UInt16(bigEndian: address.sin_port))
            else {
                continue
            }
            var on: Int32 = 1
            unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}
