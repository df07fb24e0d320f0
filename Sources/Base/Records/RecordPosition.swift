/// The position of a record.
public struct RecordPosition: Sendable, Hashable {
    /// The topic.
    public let topic: String
    /// The partition.
    public let partition: Int32
    /// The offset.
    public let offset: Int64

    /// The record at `offset` of `partition` of `topic`.
    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    /// The offset behind it, where reading goes on.
    public var nextOffset: Int64 { Self.next(after: offset) }

    /// Returns the offset behind `offset`. The last possible offset has none behind it.
    public static func next(after offset: Int64) -> Int64 { offset == .max ? .max : offset + 1 }
}

/// A partition of a topic.
public struct TopicPartition: Sendable, Hashable, CustomStringConvertible {
    /// The topic.
    public let topic: String
    /// The partition's number.
    public let partition: Int32

    /// `partition` of `topic`.
    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// The partition that `position` is in.
    public init(_ position: RecordPosition) { self.init(topic: position.topic, partition: position.partition) }

    /// The partition as `TOPIC/NUMBER`.
    public var description: String { "\(topic)/\(partition)" }
}
