package import AdapterKit
package import Kafka
package import Keyring
package import Pipeline

/// A fleet's status at one moment, as brokers, control topic and key rings show it. No worker is asked.
package struct FleetStatus: Sendable {
    package struct Topic: Sendable, Equatable {
        package var name: String
        /// The number of partitions; 0 where the topic does not exist.
        package var partitions: Int
        /// The number of records still to be dealt with; nil where the brokers do not return it. For a lane's topic: the
        /// offsets that its group has not committed, marks of transactions included. For the dead letters: the letters
        /// that are neither parked nor dealt with.
        package var waiting: Int64?
        /// Whether `waiting` counts offsets where there are too many letters to count.
        package var isUpperBound = false
    }

    package struct LaneState: Sendable {
        package var lane: Lane
        package var group: String
        package var pause: LanePause?
        package var topics: [Topic]
        /// The group's state and members; nil where the brokers do not describe it.
        package var members: ConsumerGroup?
        /// The time of the newest commit of any partition; nil where no worker stated one.
        package var committed: UnixTime?
        /// The time of the oldest waiting event; nil where too many wait to read them.
        package var oldest: UnixTime?
    }

    package struct AppState: Sendable, Equatable {
        package var name: String
        package var adapter: String
        package var keyRing: String
        /// The suspension that makes the app's events wait; nil where they are answered.
        package var suspension: Suspension?
    }

    /// A worker that the brokers know by name, or workers with the same client id and host, which nothing distinguishes.
    package struct Worker: Sendable, Equatable {
        /// The worker's name as its groups know it; empty where it changes with each start.
        package var name = ""
        package var clientID: String
        package var host: String
        /// The number of workers: each has one client in each lane's group.
        package var count: Int
        /// The number of partitions of each lane that they have, in the order of the lanes.
        package var partitions: [Int]
        /// The time of the newest commit of these partitions; nil where no worker stated one.
        package var committed: UnixTime?
    }

    package var at: UnixTime
    /// The fleet's consumer group, from which the names of the lanes' groups derive.
    package var group: String
    /// The lanes, the most urgent first.
    package var lanes: [LaneState]
    package var deadLetters: Topic
    /// The parked letters' topic, with the number of parked letters; nil where it does not exist.
    package var parkedLetters: Topic?
    /// The apps, in the order of the configuration.
    package var apps: [AppState]
    /// The key rings, in the order of the configuration.
    package var rings: [RingReport]
    /// The unknown parts of the status, each in a line.
    package var problems: [String]
    /// The topics that do not exist or may not be seen.
    package var missing: [String] = []
    /// The mistakes of keys that no listing shows, each in a line.
    package var keyProblems: [String] = []
    /// The time of each partition's last commit, where its worker stated one.
    package var commits: [TopicPartition: UnixTime] = [:]

    /// The workers, by host, client and name.
    package var workers: [Worker] {
        var found: [[String]: Worker] = [:]
        for (place, lane) in lanes.enumerated() {
            let members = Dictionary(grouping: lane.members?.members ?? []) {
                [$0.clientID, $0.host, Self.name($0, lane.lane)]
            }
            for (key, members) in members {
                var worker =
                    found[key]
                    ?? Worker(name: key[2], clientID: key[0], host: key[1], count: 0, partitions: lanes.map { _ in 0 })
                worker.count = max(worker.count, members.count)
                let partitions = members.flatMap(\.partitions)
                worker.partitions[place] = partitions.count
                worker.committed = ([worker.committed] + partitions.map { commits[$0] }).compactMap(\.self).max()
                found[key] = worker
            }
        }
        return found.values.sorted { ($0.host, $0.clientID, $0.name) < ($1.host, $1.clientID, $1.name) }
    }

    /// Returns the worker's name in the id that a broker made of `group.instance.id` and a UUID of its own: NAME-LANE-HASH-UUID.
    /// Empty for a member with another id.
    private static func name(_ member: ConsumerGroup.Member, _ lane: Lane) -> String {
        let id = Array(member.id.utf8)
        let tail = "-\(lane.rawValue)-".utf8.count + 8 + 1 + 36
        guard id.count > tail else { return "" }
        let rest = id.suffix(tail)
        return rest.starts(with: "-\(lane.rawValue)-".utf8) ? String(decoding: id.dropLast(tail), as: UTF8.self) : ""
    }
}

extension FleetStatus.LaneState {
    /// The number of waiting offsets of all the lane's topics; nil where it is unknown of any.
    package var lag: Int64? {
        topics.reduce(into: Int64?(0)) { sum, topic in
            sum = sum.flatMap { sum in topic.waiting.map { sum + $0 } }
        }
    }
}
