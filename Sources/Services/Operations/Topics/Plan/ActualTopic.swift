/// A topic as it exists in the cluster.
package struct ActualTopic: Sendable, Equatable {
    /// The number of partitions.
    package var partitions: Int
    /// The number of replicas of the partition with the fewest; 0 where it is unknown.
    package var replication: Int
    /// The settings in force for the topic, its own and the cluster's.
    package var settings: [String: String]

    package init(partitions: Int, replication: Int, settings: [String: String]) {
        self.partitions = partitions
        self.replication = replication
        self.settings = settings
    }
}
