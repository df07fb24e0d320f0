import Kafka

/// The result of a transaction if the broker answers one request of it with an error, once: the worker's side of
/// librdkafka 2.0.2's table. The library repeats a request whose error passes by itself; an error that fences is final;
/// all others abort the transaction.
enum TransactionTable {
    typealias Request = EmbeddedBroker.Request
    typealias ResponseError = EmbeddedBroker.ResponseError

    private static let deadLetters = "remint.dead-letters"

    /// For each request while the transaction goes on.
    static let onTheWay: [(request: Request, ends: [ResponseError: Ended])] = [
        (
            .addPartitionsToTransaction,
            [
                .connectionDropped: .committed, .unknownTopicOrPartition: .committed,
                .coordinatorNotAvailable: .committed, .notCoordinator: .committed, .concurrentTransactions: .committed,
                .notLeader: .aborted("NOT_LEADER_FOR_PARTITION"), .requestTimedOut: .aborted("REQUEST_TIMED_OUT"),
                .messageTooLarge: .aborted("MSG_SIZE_TOO_LARGE"), .illegalGeneration: .aborted("ILLEGAL_GENERATION"),
                .unknownMemberID: .aborted("UNKNOWN_MEMBER_ID"),
                .rebalanceInProgress: .aborted("REBALANCE_IN_PROGRESS"),
                .topicAuthorizationFailed: .blocked(deadLetters, "TOPIC_AUTHORIZATION_FAILED"),
                .groupAuthorizationFailed: .aborted("GROUP_AUTHORIZATION_FAILED"),
                .producerFenced: .fenced("_FENCED"), .invalidProducerEpoch: .fenced("_FENCED"),
            ]
        ),
        (
            .produce,
            [
                .connectionDropped: .committed, .unknownTopicOrPartition: .committed, .notLeader: .committed,
                .requestTimedOut: .committed, .coordinatorNotAvailable: .committed, .notCoordinator: .committed,
                // Too large together; alone it is taken.
                .messageTooLarge: .committed,
                .illegalGeneration: .aborted("ILLEGAL_GENERATION"), .unknownMemberID: .aborted("UNKNOWN_MEMBER_ID"),
                .rebalanceInProgress: .aborted("REBALANCE_IN_PROGRESS"),
                .concurrentTransactions: .aborted("CONCURRENT_TRANSACTIONS"),
                .topicAuthorizationFailed: .blocked(deadLetters, "TOPIC_AUTHORIZATION_FAILED"),
                .groupAuthorizationFailed: .aborted("GROUP_AUTHORIZATION_FAILED"),
                .producerFenced: .fenced("PRODUCER_FENCED"), .invalidProducerEpoch: .fenced("_FENCED"),
            ]
        ),
        (.addOffsetsToTransaction, offsets),
        (.transactionOffsetCommit, offsets),
        (
            .endTransaction,
            [
                // Whether the broker committed is not known: new clients begin at the offsets it holds.
                .connectionDropped: .committed, .coordinatorNotAvailable: .committed, .notCoordinator: .committed,
                .concurrentTransactions: .committed,
                .unknownTopicOrPartition: .unusable("UNKNOWN_TOPIC_OR_PART"),
                .notLeader: .unusable("NOT_LEADER_FOR_PARTITION"), .requestTimedOut: .unusable("REQUEST_TIMED_OUT"),
                .messageTooLarge: .unusable("MSG_SIZE_TOO_LARGE"), .illegalGeneration: .unusable("ILLEGAL_GENERATION"),
                .unknownMemberID: .unusable("UNKNOWN_MEMBER_ID"),
                .rebalanceInProgress: .unusable("REBALANCE_IN_PROGRESS"),
                .topicAuthorizationFailed: .unusable("TOPIC_AUTHORIZATION_FAILED"),
                .groupAuthorizationFailed: .unusable("GROUP_AUTHORIZATION_FAILED"),
                .producerFenced: .fenced("_FENCED"), .invalidProducerEpoch: .fenced("_FENCED"),
            ]
        ),
    ]

    /// The two requests that put the offsets in.
    private static let offsets: [ResponseError: Ended] = [
        .connectionDropped: .committed, .unknownTopicOrPartition: .committed, .requestTimedOut: .committed,
        .coordinatorNotAvailable: .committed, .notCoordinator: .committed, .concurrentTransactions: .committed,
        .notLeader: .aborted("NOT_LEADER_FOR_PARTITION"), .messageTooLarge: .aborted("MSG_SIZE_TOO_LARGE"),
        .illegalGeneration: .aborted("ILLEGAL_GENERATION"), .unknownMemberID: .aborted("UNKNOWN_MEMBER_ID"),
        .rebalanceInProgress: .aborted("REBALANCE_IN_PROGRESS"),
        // Of the input topic: nothing is wrong with an output.
        .topicAuthorizationFailed: .aborted("TOPIC_AUTHORIZATION_FAILED"),
        .groupAuthorizationFailed: .aborted("GROUP_AUTHORIZATION_FAILED"),
        .producerFenced: .fenced("_FENCED"), .invalidProducerEpoch: .fenced("_FENCED"),
    ]

    /// For the end of a transaction that is aborted, because the group moved on. Where the abort itself is refused,
    /// nothing is known of the transaction.
    static let duringTheAbort: [ResponseError: Ended] = [
        .connectionDropped: .aborted("ILLEGAL_GENERATION"), .coordinatorNotAvailable: .aborted("ILLEGAL_GENERATION"),
        .notCoordinator: .aborted("ILLEGAL_GENERATION"), .concurrentTransactions: .aborted("ILLEGAL_GENERATION"),
        .unknownTopicOrPartition: .unusable("UNKNOWN_TOPIC_OR_PART"),
        .notLeader: .unusable("NOT_LEADER_FOR_PARTITION"), .requestTimedOut: .unusable("REQUEST_TIMED_OUT"),
        .messageTooLarge: .unusable("MSG_SIZE_TOO_LARGE"), .illegalGeneration: .unusable("ILLEGAL_GENERATION"),
        .unknownMemberID: .unusable("UNKNOWN_MEMBER_ID"), .rebalanceInProgress: .unusable("REBALANCE_IN_PROGRESS"),
        .topicAuthorizationFailed: .unusable("TOPIC_AUTHORIZATION_FAILED"),
        .groupAuthorizationFailed: .unusable("GROUP_AUTHORIZATION_FAILED"),
        .producerFenced: .fenced("_FENCED"), .invalidProducerEpoch: .fenced("_FENCED"),
    ]
}
