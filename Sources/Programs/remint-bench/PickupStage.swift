import AdapterKit
import Bench
import CommandKit
import Demonstration
import Foundation
import JOSE
import Kafka
import Keyring

/// A worker and a gateway in processes of their own, on topics and with keys of their own.
final class PickupStage {
    private static let partitions = 6
    let app: BenchApp
    /// The gateway's host.
    let host = "127.0.0.1"
    let port: Int
    private let broker: BenchBroker
    private let prefix = "remint-bench-\(UInt32.random(in: 0 ... .max))"
    private let folder: URL
    /// The login that signs the devices' sessions.
    let login: SampleLogin
    private let producer: KafkaProducer
    private var worker: WorkerProcess
    private var gateway: WorkerProcess

    private var topics: [String] {
        ["live", "bulk", "tokens", "dead", "retries.10s", "control"].map { "\(prefix).\($0)" }
    }

    /// - Parameter program: the measured program.
    init(_ app: BenchApp, _ broker: BenchBroker, program: URL) async throws {
        self.app = app
        self.broker = broker
        folder = FileManager.default.temporaryDirectory.appending(path: prefix)
        login = try SampleLogin()
        port = Int(try FreePort.find())
        producer = try KafkaProducer(["bootstrap.servers": broker.servers], logger: broker.logger)
        worker = WorkerProcess(program, folder)
        gateway = WorkerProcess(program, folder, command: "pickup")
        for topic in topics {
            if let embedded = broker.embedded {
                try await embedded.createTopic(topic, partitions: Self.partitions)
            } else {
                try await producer.createTopic(topic, partitions: Self.partitions, within: .seconds(30))
            }
        }
        try configure()
    }

    private func configure() throws {
        let ring = folder.appending(path: "keys/bench")
        try FileManager.default.createDirectory(
            at: ring, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try KeyRingDirectory(path: ring.path).create(
            app.generateKey(), id: "bench-1", secretEncoding: app.adapter.secretEncoding, at: UnixTime.system())
        try login.keySet.write(to: folder.appending(path: "sessions.json"))
        let properties =
            broker.embedded == nil
            ? "" : #"fetch.wait.max.ms: "10", session.timeout.ms: "6000", heartbeat.interval.ms: "500""#
        let yaml = """
            kafka: { bootstrap_servers: "\(broker.servers)", group: \(prefix), insecure: true, properties: { \(properties) } }
            delivery: \(broker.delivery)
            topics:
              invalidations: \(prefix).live
              invalidations_bulk: \(prefix).bulk
              tokens: \(prefix).tokens
              dead_letters: \(prefix).dead
              retries: \(prefix).retries
              control: \(prefix).control
            worker: { retries: { tiers: [10s] } }
            log: { level: warning, format: text }
            keys: { bench: { path: keys/bench } }
            apps: { bench: { adapter: \(type(of: app.adapter).name), settings: \(app.settings), key: bench } }
            pickup:
              listen: \(host):\(port)
              user_rate: 100000
              caller_rate: 100000
              address_rate: 10000000
              total_rate: 10000000
              address_connections: 10000000
              streams: 10000000
              user_streams: 10000
              address_streams: 10000000
              session: { issuer: \(SampleLogin.issuer), jwks: sessions.json }
              apps: { bench: { issuer: \(SampleLogin.issuer) } }

            """
        try Data(yaml.utf8).write(to: folder.appending(path: "remint.yaml"))
    }

    func start() throws {
        try worker.launch()
        try gateway.launch()
    }

    /// Whether both run.
    var isRunning: Bool { worker.isRunning && gateway.isRunning }

    /// The memory the gateway has, in bytes.
    var gatewayBytes: Int { gateway.residentBytes }

    /// Stops everything, and removes the topics and files that were made.
    func end() async {
        gateway.stop()
        worker.stop()
        if broker.embedded == nil { try? await producer.deleteTopics(topics, within: .seconds(10)) }
        await producer.close(within: .seconds(5))
        try? FileManager.default.removeItem(at: folder)
    }
}

/// A port of this machine that nobody uses at the moment.
private enum FreePort {
    static func find() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw BenchFailed("no socket can be made") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let found = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard found else { throw BenchFailed("no port is free") }
        return UInt16(bigEndian: address.sin_port)
    }
}
