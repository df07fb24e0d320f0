import Foundation
import Kafka
import Keyring
import Logging
import ProgramTestSupport
import Synchronization
import Testing

/// A broker in this process and a folder with a generated configuration and keys, for workers in processes of their own.
struct Shop: ~Copyable {
    let broker: EmbeddedBroker
    let folder: URL
    let partitions: Int
    /// The programs that `close` ends.
    let programs = Programs()
    private let temporary: TemporaryFolder

    var configuration: String { folder.appending(path: "remint.yaml").path }

    /// The demonstration's apps, pointed at a broker that outlives the workers.
    ///
    /// - Parameters:
    ///   - admission: the configuration under `worker.admission`; by default nothing is coalesced.
    ///   - partitions: how many each topic has. A partition of the embedded broker keeps 5 MB.
    static func open(admission: String = "subjects: 0", partitions: Int = 2) async throws -> Shop {
        let temporary = try TemporaryFolder()
        let folder = temporary.url.appending(path: "shop")
        try await DemoFolder.copy(to: folder)
        let broker = try EmbeddedBroker(logger: quiet)
        for topic in [
            "remint.invalidations", "remint.invalidations.bulk", "remint.tokens", "remint.dead-letters",
            "remint.retries.1s", "remint.retries.2s",
        ] {
            try await broker.createTopic(topic, partitions: partitions)
        }
        try await broker.createTopic("remint.control", partitions: 1)
        let file = folder.appending(path: "remint.yaml")
        // The broker is the embedded one, in another process: no worker can know that it keeps no transactions.
        let text = try String(contentsOf: file, encoding: .utf8).replacing(
            "bootstrap_servers: embedded",
            with: """
                bootstrap_servers: \(broker.bootstrapServers)
                  properties:
                    session.timeout.ms: 6000
                    heartbeat.interval.ms: 500
                    fetch.wait.max.ms: 10
                delivery: at_least_once
                admin: { listen: 127.0.0.1:0 }
                """
        ).replacing(
            // An event waits for what an operator does, however long a busy machine takes for it.
            "admission: { subjects: 0 }",
            with: "retries: { tiers: [1s, 2s], max_attempts: 100 }\n  admission: { \(admission) }")
        try Data(text.utf8).write(to: file)
        return Shop(broker: broker, folder: folder, partitions: partitions, temporary: temporary)
    }

    private init(broker: EmbeddedBroker, folder: URL, partitions: Int, temporary: consuming TemporaryFolder) {
        self.partitions = partitions
        self.broker = broker
        self.folder = folder
        self.temporary = temporary
    }

    func configure(_ passage: String, _ replacement: String) throws {
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try #require(text.contains(passage))
        try Data(text.replacing(passage, with: replacement).utf8).write(to: URL(filePath: configuration))
    }

    /// The key ring of the app called the same.
    func ring(_ app: String) throws -> KeyRing {
        try KeyRingDirectory(path: folder.appending(path: "keys/\(app)").path).load(name: app)
    }

    /// Starts a worker and waits until it consumes.
    @discardableResult
    func startWorker() async throws -> Program {
        let worker = programs.add(try Program(Repository.remint, ["run", "--config", configuration]))
        try #require(await worker.logged("worker.consuming"), "\(worker.errorText)")
        return worker
    }

    /// Ends the programs, the newest first, and the broker.
    ///
    /// - Parameter status: the exit code of every service that still ran; nil for any.
    func close(expecting status: Int32? = nil) async {
        await programs.end(expecting: status)
        await broker.close()
    }

    /// Produces `records`, all of them delivered.
    func produce(_ records: [ProducerRecord], _ properties: ClientProperties = [:]) async throws {
        let common: ClientProperties = ["bootstrap.servers": broker.bootstrapServers, "message.max.bytes": "10000000"]
        let producer = try KafkaProducer(common.merging(properties), logger: quiet)
        let errors = await producer.deliver(records)
        #expect(errors.allSatisfy { $0 == nil }, "\(errors.compactMap { $0 })")
        await producer.close(within: .seconds(10))
    }

    func outputs() async throws -> [ConsumedRecord] {
        try await records(of: ["remint.tokens", "remint.dead-letters"])
    }

    /// The records of `topics`, from their beginnings to their ends.
    func records(of topics: [String]) async throws -> [ConsumedRecord] {
        let consumer = try reader(of: topics, ["enable.partition.eof": "true"])
        var open = topics.count * partitions
        var records: [ConsumedRecord] = []
        while open > 0 {
            try Task.checkCancellation()
            for event in await consumer.events(limit: 1000, within: .seconds(1)) {
                switch event {
                case .record(let record): records.append(record)
                case .endOfPartition: open -= 1
                case .error(let error): if error.isFatal { throw error }
                case .rebalance: break
                }
            }
        }
        await consumer.close(within: .seconds(5))
        return records
    }

    /// Returns a reader of `topics` from their beginnings on. It is in no group: the embedded broker lets the first member of a
    /// group wait for three seconds.
    func reader(of topics: [String], _ more: ClientProperties = [:]) throws -> KafkaConsumer {
        let properties = EmbeddedBroker.clientProperties.merging([
            "bootstrap.servers": broker.bootstrapServers, "group.id": "reader", "auto.offset.reset": "earliest",
            "enable.auto.commit": "false", "fetch.message.max.bytes": "10000000",
        ])
        let all = topics.flatMap { topic in
            (0..<partitions).map { PartitionOffset(TopicPartition(topic: topic, partition: Int32($0)), offset: 0) }
        }
        return try KafkaConsumer(properties.merging(more), reading: all, logger: quiet)
    }

    /// Reads the output topics until `isEnough` of what came so far.
    func consumeOutputs(
        of topics: [String] = ["remint.tokens", "remint.dead-letters"], until isEnough: ([ConsumedRecord]) -> Bool
    ) async throws -> [ConsumedRecord] {
        let consumer = try reader(of: topics)
        var records: [ConsumedRecord] = []
        while !isEnough(records) {
            try Task.checkCancellation()
            for event in await consumer.events(limit: 1000, within: .seconds(1)) {
                switch event {
                case .record(let record): records.append(record)
                case .error(let error): if error.isFatal { throw error }
                case .rebalance, .endOfPartition: break
                }
            }
        }
        await consumer.close(within: .seconds(5))
        return records
    }
}

/// The programs of a shop: its services, and the clients that call them.
final class Programs: Sendable {
    private let all = Mutex<(services: [Program], clients: [Program])>(([], []))

    func add(_ service: Program) -> Program {
        all.withLock { $0.services.append(service) }
        return service
    }

    func add(client: Program) -> Program {
        all.withLock { $0.clients.append(client) }
        return client
    }

    func end(expecting status: Int32?) async {
        let (services, clients) = all.withLock { $0 }
        for client in clients {
            client.kill()
            await client.waitForEnd()
        }
        for service in services.reversed() where service.status < 0 {
            service.terminate()
            await service.waitForEnd()
            if let status { #expect(service.status == status, "\(service.errorText)") }
        }
    }
}

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

extension ConsumedRecord {
    func header(_ name: String) -> String? {
        headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }

    func member(_ name: String) -> String? {
        let object = value.flatMap { try? JSONSerialization.jsonObject(with: Data($0)) } as? [String: Any]
        return object?[name] as? String
    }
}

/// A raw report with the header that routes it.
func rawReport(_ app: String, _ json: String, id: String? = nil) -> ProducerRecord {
    var headers = [RecordHeader("remint-app", Array(app.utf8))]
    if let id { headers.append(RecordHeader("remint-id", Array(id.utf8))) }
    return ProducerRecord(topic: "remint.invalidations", key: nil, value: Array(json.utf8), headers: headers)
}

/// A token of `user` as a worker published it.
///
/// - Parameters:
///   - key: the record's key; by default the subject's.
///   - issued: the seconds since the token was issued.
///   - end: the seconds until the token expires.
func tokenRecord(
    _ user: String, app: String = "braze-ios", ring: String? = nil, keyID: String = "k", token: String = "e30.e30.c2ln",
    version: Int64 = 1, issued: Int64 = 0, end: Int64 = 3600, key: String? = nil
) -> ProducerRecord {
    let now = Int64(Date.now.timeIntervalSince1970)
    let value = """
        {"app":"\(app)","vendor":"braze","subject":{"user":"\(user)"},"token":"\(token)","algorithm":"RS256",\
        "key_id":"\(keyID)","issued_at":\(now - issued),"expires_at":\(now + end),"version":\(version),"event_id":"e"}
        """
    let headers = [
        ("ce_source", "/remint/\(app)"), ("ce_type", "remint.token.replaced.v1"), ("ce_id", "e"),
        ("remint-key-id", keyID),
        ("remint-expires-at", "\(now + end)"), ("remint-version", "\(version)"),
    ]
    return ProducerRecord(
        topic: "remint.tokens", key: Array((key ?? "\(app)/\(user)").utf8), value: Array(value.utf8),
        headers: (headers + (ring.map { [("remint-key-ring", $0)] } ?? [])).map { RecordHeader($0.0, $0.1) })
}
