package import AdapterKit
package import Kafka
package import Pipeline

/// How a whole fleet stands, as brokers, control topic and key rings tell it at one moment. No worker is asked.
package struct FleetStatus: Sendable {
    /// One topic.
    package struct Topic: Sendable, Equatable {
        /// Its name.
        package var name: String
        /// How many partitions it has; 0 where it does not exist.
        package var partitions: Int
        /// How many offsets of it are still to be dealt with: of a lane's topic those that its group has not committed, of the dead
        /// letters' those that it holds and that are neither parked nor marked as dealt with. Marks of transactions are among them. nil where
        /// the brokers do not say.
        package var waiting: Int64?
    }

    /// One lane.
    package struct LaneState: Sendable {
        /// Which.
        package var lane: Lane
        /// Its consumer group.
        package var group: String
        /// The pause that holds it.
        package var pause: LanePause?
        /// Its topics.
        package var topics: [Topic]
        /// The group's state and members; nil where the brokers do not describe it.
        package var members: ConsumerGroup?
    }

    /// One configured app.
    package struct AppState: Sendable, Equatable {
        /// Its name.
        package var name: String
        /// Its adapter.
        package var adapter: String
        /// Its key ring.
        package var keyRing: String
        /// What makes its events wait; nil where they are answered.
        package var suspension: Suspension?
    }

    /// Workers that cannot be told apart by what their clients say of themselves.
    package struct Worker: Sendable, Equatable {
        /// What the clients call themselves.
        package var clientID: String
        /// Where they connect from.
        package var host: String
        /// How many they are: of each, one client is in each lane's group.
        package var count: Int
        /// How many partitions of each lane they have, in the order of the lanes.
        package var partitions: [Int]
    }

    /// When.
    package var at: UnixTime
    /// The fleet's consumer group, after which those of the lanes are called.
    package var group: String
    /// The lanes, the most urgent first.
    package var lanes: [LaneState]
    /// The dead letters' topic.
    package var deadLetters: Topic
    /// The parked letters' topic, with how many are parked; nil where it does not exist.
    package var parkedLetters: Topic?
    /// The apps, in the order of the configuration.
    package var apps: [AppState]
    /// The key rings, in the order of the configuration.
    package var rings: [RingReport]
    /// What could not be found out, each in a line.
    package var problems: [String]

    /// A status with these parts.
    package init(
        at: UnixTime, group: String, lanes: [LaneState], deadLetters: Topic, parkedLetters: Topic? = nil,
        apps: [AppState], rings: [RingReport], problems: [String]
    ) {
        self.at = at
        self.group = group
        self.lanes = lanes
        self.deadLetters = deadLetters
        self.parkedLetters = parkedLetters
        self.apps = apps
        self.rings = rings
        self.problems = problems
    }

    /// The workers, by client and host.
    package var workers: [Worker] {
        var found: [[String]: Worker] = [:]
        for (place, lane) in lanes.enumerated() {
            let members = Dictionary(grouping: lane.members?.members ?? []) { [$0.clientID, $0.host] }
            for (key, members) in members {
                var worker =
                    found[key]
                    ?? Worker(clientID: key[0], host: key[1], count: 0, partitions: lanes.map { _ in 0 })
                worker.count = max(worker.count, members.count)
                worker.partitions[place] = members.reduce(0) { $0 + $1.partitions.count }
                found[key] = worker
            }
        }
        return found.values.sorted { ($0.host, $0.clientID) < ($1.host, $1.clientID) }
    }
}

extension FleetStatus.LaneState {
    /// How many offsets of all its topics wait; nil where the brokers do not say it of all.
    package var lag: Int64? {
        topics.reduce(into: Int64?(0)) { sum, topic in
            sum = sum.flatMap { sum in topic.waiting.map { sum + $0 } }
        }
    }
}
