import Formats
package import Kafka
package import Pipeline

extension KafkaProperties {
    /// Returns the members of a lane's group that are no workers, such as a consumer for debugging: the group gives them
    /// partitions, and nobody answers the events there.
    ///
    /// A worker has this one's client id, or the name of a static member, which ends in the lane and a hash.
    package func strangers(among members: [ConsumerGroup.Member], of lane: Lane) -> [ConsumerGroup.Member] {
        members.filter { $0.clientID != clientID && !Self.isStatic($0.id, lane) }
    }

    /// Returns whether `id` is the id of a static member of `lane`: its name, and a UUID of the group's.
    private static func isStatic(_ id: String, _ lane: Lane) -> Bool {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 8 else { return false }
        let hash = parts[parts.count - 6]
        return parts[parts.count - 7] == lane.rawValue && hash.utf8.count == 8 && hash.allSatisfy(\.isHexDigit)
    }
}

extension ConsumerGroup.Member {
    /// The member that is no worker, for people.
    package func strangerText(in group: String) -> String {
        let count = partitions.count.of("partition")
        return
            "the group \(group) has a member that is no worker, \(id.prefix(80)) at \(host), with \(count): end it, and read the topic with another group"
    }
}
