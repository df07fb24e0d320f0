import CRdKafka

/// The group hands out partitions anew. Nothing more is consumed until it is answered with `KafkaConsumer.answer`.
public struct Rebalance: Sendable, Equatable {
    /// What happens to the partitions.
    public enum Kind: Sendable, Equatable {
        /// They become this member's.
        case assigned
        /// They are taken away. Where `isLost`, another member may have them already: nothing may be committed for them.
        case revoked(isLost: Bool)
    }

    /// What happens.
    public let kind: Kind
    /// The partitions it happens to; for an eager group, all.
    public let partitions: [TopicPartition]

    /// `kind` of `partitions`.
    public init(kind: Kind, partitions: [TopicPartition]) {
        self.kind = kind
        self.partitions = partitions
    }
}
