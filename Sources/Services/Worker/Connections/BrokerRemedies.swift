import Kafka

extension KafkaError.Code {
    /// Whether the error only means that no broker answered.
    var isSilence: Bool { [.transport, .timedOut, .allBrokersDown].contains(self) }

    /// Returns the fix for this error of a client in `group`.
    func remedy(group: String) -> String {
        switch self {
        case .transport, .timedOut, .allBrokersDown, .unknownHost:
            "correct kafka.bootstrap_servers, let this machine reach every broker's advertised address, and set kafka.properties.security.protocol as the brokers want it"
        case .tls:
            "trust the brokers' authority with kafka.properties.ssl.ca.location, and use the names of their certificates"
        case .authentication, .saslAuthenticationFailed:
            "correct sasl.mechanism and the credentials under kafka.properties"
        case .topicAuthorizationFailed: "allow this account DESCRIBE and READ, or WRITE, on the topic"
        case .groupAuthorizationFailed: "allow this account READ on groups that begin with \(group)"
        case .transactionalIDAuthorizationFailed:
            "allow this account WRITE on transactional ids that begin with \(group)-"
        case .invalidSessionTimeout:
            "set kafka.properties.session.timeout.ms within the brokers' group.min.session.timeout.ms and group.max.session.timeout.ms"
        case .inconsistentProtocol:
            "give all members of the group the same partition.assignment.strategy, and end those that are no workers"
        case .groupIsFull: "raise the brokers' group.max.size"
        case .invalidTransactionTimeout:
            "set kafka.properties.transaction.timeout.ms to at most the brokers' transaction.max.timeout.ms, or raise that"
        case .clusterAuthorizationFailed: "allow this account IDEMPOTENT_WRITE on the cluster"
        default: "the brokers' logs have the cause"
        }
    }
}
