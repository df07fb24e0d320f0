import AdapterKit
import Kafka
import Pipeline
import Testing

@testable import Operations

/// Tests of the fleet's status that is computed from the brokers' answers.
@Suite struct FleetStatusTests {
    private static func member(_ host: String, _ partitions: Int32, client: String = "remint") -> ConsumerGroup.Member {
        ConsumerGroup.Member(
            id: "\(client)-\(host)", clientID: client, host: host,
            partitions: (0..<partitions).map { TopicPartition(topic: "t", partition: $0) })
    }

    private static func lane(
        _ lane: Lane, _ members: [ConsumerGroup.Member]?, waiting: [Int64?] = [0]
    ) -> FleetStatus.LaneState {
        FleetStatus.LaneState(
            lane: lane, group: lane.rawValue, pause: nil,
            topics: waiting.map { FleetStatus.Topic(name: "t", partitions: 1, waiting: $0) },
            members: members.map { ConsumerGroup(name: lane.rawValue, state: "Stable", members: $0) })
    }

    private static func status(_ lanes: [FleetStatus.LaneState]) -> FleetStatus {
        FleetStatus(
            at: UnixTime(seconds: 0), group: "g", lanes: lanes,
            deadLetters: FleetStatus.Topic(name: "d", partitions: 1, waiting: 0), apps: [], rings: [], problems: [])
    }

    @Test func `waiting records are read from their own places, and not from the beginning of an unknown partition`() {
        let partitions = (0..<3).map { TopicPartition(topic: "t", partition: $0) }
        let behind = [partitions[0]: Int64(2), partitions[2]: 5]
        let bounds = [partitions[0]: Int64(0)..<10, partitions[2]: 90..<100]
        #expect(FleetReader.starts(of: [partitions[2], partitions[0]], behind, bounds) == [8, 0, 95])
        #expect(FleetReader.starts(of: partitions, behind, bounds) == nil)
    }

    @Test func `a worker is a member of each lane's group`() {
        let status = Self.status([
            Self.lane(.live, [Self.member("/10.0.0.2", 3), Self.member("/10.0.0.1", 2)]),
            Self.lane(.retries, [Self.member("/10.0.0.1", 6), Self.member("/10.0.0.2", 5)]),
            Self.lane(.bulk, [Self.member("/10.0.0.2", 1)]),
        ])
        #expect(status.workers.map(\.host) == ["/10.0.0.1", "/10.0.0.2"])
        #expect(status.workers.map(\.count) == [1, 1])
        #expect(status.workers.map(\.partitions) == [[2, 6, 0], [3, 5, 1]])
    }

    @Test func `workers of one host are counted together, and others apart`() {
        let status = Self.status([
            Self.lane(.live, [Self.member("/a", 1), Self.member("/a", 2), Self.member("/a", 4, client: "other")]),
            Self.lane(.bulk, [Self.member("/a", 1), Self.member("/a", 1)]), Self.lane(.retries, nil),
        ])
        #expect(status.workers.map(\.clientID) == ["other", "remint"])
        #expect(status.workers.map(\.count) == [1, 2])
        #expect(status.workers.map(\.partitions) == [[4, 0, 0], [3, 2, 0]])
        #expect(Self.status([Self.lane(.live, nil)]).workers.isEmpty)
    }

    @Test func `a static member has its worker's name and the newest commit of its partitions`() {
        let uuid = "0a1b2c3d-0000-4000-8000-0123456789ab"
        func member(_ id: String, _ partition: Int32) -> ConsumerGroup.Member {
            .init(
                id: id, clientID: "remint", host: "/a", partitions: [TopicPartition(topic: "t", partition: partition)])
        }
        var status = Self.status([
            Self.lane(.live, [member("w-live-0-live-89abcdef-\(uuid)", 0), member("w-1-live-89abcdef-\(uuid)", 1)]),
            Self.lane(.retries, [member("w-1-retries-01234567-\(uuid)", 2), member("remint-\(uuid)", 3)]),
            Self.lane(.bulk, nil),
        ])
        status.commits = [
            TopicPartition(topic: "t", partition: 1): UnixTime(seconds: 7),
            TopicPartition(topic: "t", partition: 2): UnixTime(seconds: 9),
        ]
        #expect(status.workers.map(\.name) == ["", "w-1", "w-live-0"])
        #expect(status.workers.map(\.committed) == [nil, UnixTime(seconds: 9), nil])
        #expect(status.workers.map(\.partitions) == [[0, 1, 0], [1, 1, 0], [1, 0, 0]])
    }

    @Test(arguments: [([0], 0), ([3, 4], 7), ([3, nil], nil), ([], 0)] as [([Int64?], Int64?)])
    func `a lane's lag is known where that of all its topics is`(_ waiting: [Int64?], _ lag: Int64?) {
        #expect(Self.lane(.live, [], waiting: waiting).lag == lag)
    }
}
