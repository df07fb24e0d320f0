/// A topic as it stands in the cluster.
package struct ActualTopic: Sendable, Equatable {
    /// How many partitions it has.
    package var partitions: Int
    /// How many copies its partitions have, of the one with the fewest; 0 where nobody said.
    package var replication: Int
    /// The settings that hold for it, its own and the cluster's.
    package var settings: [String: String]

    package init(partitions: Int, replication: Int, settings: [String: String]) {
        self.partitions = partitions
        self.replication = replication
        self.settings = settings
    }
}
