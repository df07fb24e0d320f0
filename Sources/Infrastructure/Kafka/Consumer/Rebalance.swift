/// The group distributes its partitions again. Nothing more is consumed until it is answered with
/// `KafkaConsumer.answer`.
public struct Rebalance: Sendable, Equatable {
    /// The kind of change to the partitions.
    public enum Kind: Sendable, Equatable {
        /// The partitions become this member's.
        case assigned
        /// The partitions are revoked. Where `isLost`, another member may have them already: nothing may be committed
        /// for them.
        case revoked(isLost: Bool)
    }

    /// The kind of change.
    public let kind: Kind
    /// The partitions it happens to; for an eager group, all.
    public let partitions: [TopicPartition]

    /// `kind` of `partitions`.
    public init(kind: Kind, partitions: [TopicPartition]) {
        self.kind = kind
        self.partitions = partitions
    }

    /// The rebalance that librdkafka reports with `code`.
    ///
    /// - Parameters:
    ///   - partitions: the partitions that it names.
    ///   - assigned: the partitions that belong to this member by now.
    ///   - isLost: whether the assignment was lost.
    init(
        _ code: KafkaError.Code, _ partitions: [TopicPartition], assigned: Set<TopicPartition>, isLost: Bool
    ) {
        switch code {
        case .assignPartitions: self.init(kind: .assigned, partitions: partitions)
        case .revokePartitions: self.init(kind: .revoked(isLost: isLost), partitions: partitions)
        default:
            // The group could not agree, and nobody knows who has what was this member's. The answer gives everything up, after which
            // the library joins again.
            let all = assigned.sorted { ($0.topic, $0.partition) < ($1.topic, $1.partition) }
            self.init(kind: .revoked(isLost: true), partitions: all)
        }
    }
}
