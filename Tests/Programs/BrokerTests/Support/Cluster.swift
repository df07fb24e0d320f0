import AsyncTestSupport
import Foundation
import Kafka
import Logging
import ProgramTestSupport
import Testing

/// The cluster under test, as the environment names it.
enum Cluster {
    private static let environment = ProcessInfo.processInfo.environment

    /// Its bootstrap servers; empty where none are named.
    static let brokers = environment["REMINT_TEST_BROKERS"] ?? ""
    /// A shell command that kills a broker and starts it again.
    static let restartCommand = environment["REMINT_TEST_BROKER_RESTART"] ?? ""
    /// `kafka-topics.sh` and `kafka-delete-records.sh`, each with what it needs to reach the cluster.
    private static let topicsCommand = environment["REMINT_TEST_KAFKA_TOPICS"] ?? ""
    private static let deleteRecordsCommand = environment["REMINT_TEST_KAFKA_DELETE_RECORDS"] ?? ""
    /// The number of events that the long stories feed.
    static let events = environment["REMINT_TEST_BROKER_EVENTS"].flatMap { Int($0) } ?? 50_000
    /// The number of times that the long stories disturb the workers.
    static let rounds = environment["REMINT_TEST_BROKER_ROUNDS"].flatMap { Int($0) } ?? (Scale.isLong ? 20 : 8)
    /// The seed of the moments of kills and of all else that a story draws.
    static let seed =
        (environment["REMINT_TEST_BROKER_SEED"] ?? environment["REMINT_TEST_SEED"]).flatMap { UInt64($0) } ?? 1

    /// A folder that is to keep what the workers logged; empty for none.
    static let logs = environment["REMINT_TEST_BROKER_LOGS"] ?? ""

    static var isNamed: Bool { !brokers.isEmpty }
    static var canRestart: Bool { !restartCommand.isEmpty }
    static let howToName: Comment =
        "needs a real Kafka: set REMINT_TEST_BROKERS=host:port[,host:port] and run make test-broker"
    static let howToRestart: Comment =
        "kills a broker: set REMINT_TEST_BROKER_RESTART to a shell command that kills one and starts it again"

    /// The ports of its brokers, where all of them are at 127.0.0.1; empty otherwise.
    static let localPorts: [Int] = {
        let ports = brokers.split(separator: ",").map { address -> Int? in
            guard address.hasPrefix("\(HoldingProxy.host):") else { return nil }
            return Int(address.dropFirst(HoldingProxy.host.count + 1))
        }
        return ports.contains(nil) ? [] : ports.compactMap { $0 }
    }()
    static let howToBeLocal: Comment =
        "stands between workers and brokers: name those of REMINT_TEST_BROKERS as 127.0.0.1:port"

    static var canAlterTopics: Bool { !topicsCommand.isEmpty }
    static var canDeleteRecords: Bool { !deleteRecordsCommand.isEmpty }
    static let howToAlterTopics: Comment =
        "adds partitions: set REMINT_TEST_KAFKA_TOPICS to kafka-topics.sh with its --bootstrap-server"
    static let howToDeleteRecords: Comment =
        "deletes records: set REMINT_TEST_KAFKA_DELETE_RECORDS to kafka-delete-records.sh with its --bootstrap-server"

    /// Gives `topic` as many partitions as `count`.
    static func addPartitions(to topic: String, upTo count: Int) async throws {
        try await run("\(topicsCommand) --alter --topic \(topic) --partitions \(count)")
    }

    static func deleteRecords(before offsets: [TopicPartition: Int64]) async throws {
        let list = offsets.map { #"{"topic":"\#($0.topic)","partition":\#($0.partition),"offset":\#($1)}"# }
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "offsets.json")
        try Data(#"{"version":1,"partitions":[\#(list.joined(separator: ","))]}"#.utf8).write(to: file)
        try await run("\(deleteRecordsCommand) --offset-json-file \(file.path)")
    }

    private static func run(_ text: String) async throws {
        let command = try await Program.run("/bin/sh", ["-c", text])
        try #require(command.status == 0, "\(text) failed: \(command.outputText)\(command.errorText)")
    }

    static func makeProducer() throws(KafkaError) -> KafkaProducer {
        try KafkaProducer(
            [
                "bootstrap.servers": brokers, "linger.ms": "2", "socket.nagle.disable": "true",
                "partitioner": "murmur2_random",
            ], logger: quiet)
    }

    /// A reader of `partitions` that belongs to no group, though `group` names the group whose offsets it may ask for.
    static func makeReader(
        of partitions: [TopicPartition], isolation: Isolation = .committed, group: String = "remint-test-reader"
    ) throws(KafkaError) -> KafkaConsumer {
        try KafkaConsumer(
            [
                "bootstrap.servers": brokers, "group.id": group, "enable.auto.commit": "false",
                "auto.offset.reset": "earliest", "isolation.level": isolation.rawValue, "enable.partition.eof": "true",
                "fetch.wait.max.ms": "50", "socket.nagle.disable": "true", "reconnect.backoff.max.ms": "500",
            ], reading: partitions.map { PartitionOffset($0, offset: 0) }, logger: quiet)
    }

    enum Isolation: String {
        case committed = "read_committed"
        case uncommitted = "read_uncommitted"
    }

    /// Kills a broker and starts it again.
    static func restartBroker() async throws {
        let command = try await Program.run("/bin/sh", ["-c", restartCommand])
        try #require(
            command.status == 0, "REMINT_TEST_BROKER_RESTART failed: \(command.outputText)\(command.errorText)")
    }
}

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// A figure of the run, for whoever reads its output.
func report(_ line: String) { print("  broker: \(line)") }
