import AdapterKit
import AsyncTestSupport
import Foundation
import JOSE
import Keyring
import NIOCore
import NIOPosix
import Telemetry
import Testing
import WorkerTestSupport

@testable import Pipeline
@testable import Worker
@testable import WorkerConfiguration

@Suite(.timeLimit(.minutes(5))) struct AdminServerTests {
    private struct Bench {
        let client: AdminClient
        let status: WorkerStatus
        let registry: MetricsRegistry
    }

    private func serving(_ body: (Bench) async throws -> Void) async throws {
        let log = RecordingLog()
        let status = WorkerStatus()
        let registry = MetricsRegistry()
        let server = AdminServer(
            address: .init(host: "127.0.0.1", port: 0), status: status, metrics: registry, reporter: StatusReporter(),
            logger: log.logger())
        let running = Task { try await server.run() }
        let line = await log.line(event: "admin.listening")
        let address = line.metadata["remint.admin.address"] ?? ""
        #expect(address.hasPrefix("127.0.0.1:") && !address.hasSuffix(":0"))
        do {
            try await body(Bench(client: AdminClient(address: address), status: status, registry: registry))
        } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        _ = await running.result
    }

    @Test func `metrics come as Prometheus reads them`() async throws {
        try await serving { bench in
            bench.registry.counter("t_total", "Help.", labels: ["a"]).add(3, "x\"y")
            let answer = try await bench.client.ask("/metrics")
            #expect(answer.status == 200)
            #expect(answer.type == "text/plain; version=0.0.4; charset=utf-8")
            #expect(answer.body == "# HELP t_total Help.\n# TYPE t_total counter\nt_total{a=\"x\\\"y\"} 3\n")
        }
    }

    @Test func `the liveness answer reports alive and the seconds since the heartbeat`() async throws {
        try await serving { bench in
            let answer = try await bench.client.ask("/health/live")
            #expect(answer.status == 200)
            #expect(answer.type == "application/json")
            #expect(answer.json["status"] as? String == "alive")
            #expect(answer.json["seconds_since_heartbeat"] is Int)
        }
    }

    @Test func `the readiness answer lists the reasons while not ready, and then reports ready`() async throws {
        try await serving { bench in
            bench.status.set(.publishing, "the topic \"t\" cannot be written")
            let refused = try await bench.client.ask("/health/ready")
            #expect(refused.status == 503)
            #expect(refused.json["status"] as? String == "not_ready")
            #expect(
                refused.json["dependencies"] as? [String: String] == [
                    "brokers": "ok", "topics": "ok", "publishing": "the topic \"t\" cannot be written", "minting": "ok",
                    "keys": "ok", "clock": "not compared", "progress": "ok",
                    "worker": "it is starting",
                ])
            bench.status.set(.publishing, nil)
            bench.status.set(.worker, nil)
            for (isCompared, clock) in [(false, "not compared"), (true, "ok")] {
                bench.status.set(isClockCompared: isCompared)
                let ready = try await bench.client.ask("/health/ready")
                #expect(ready.status == 200)
                #expect(ready.json["status"] as? String == "ready")
                #expect(ready.json["degraded"] as? [String: String] == [:])
                #expect((ready.json["dependencies"] as? [String: String])?["clock"] == clock)
            }
        }
    }

    @Test func `the readiness answer lists degraded parts, and stays ready`() async throws {
        try await serving { bench in
            bench.status.set(.worker, nil)
            bench.status.degradations.set(.telemetry, "the collector is away", of: "metrics")
            let answer = try await bench.client.ask("/health/ready")
            #expect(answer.status == 200)
            #expect(answer.json["status"] as? String == "ready")
            #expect(answer.json["degraded"] as? [String: String] == ["telemetry": "the collector is away"])
        }
    }

    @Test func `the admin server lists apps, and changes none`() async throws {
        try await serving { bench in
            func app(_ name: String, _ suspension: Suspension?) -> WorkerStatus.AppStatus {
                .init(name: name, adapter: "braze", keyRing: "r", keyVersion: "k1", suspension: suspension)
            }
            let suspension = Suspension(app: "ill app", since: UnixTime(seconds: 0), users: 12, keyVersion: "k1")
            bench.status.set([app("ill app", suspension), app("well", nil)])
            let apps = try await bench.client.ask("/apps").json["apps"] as? [[String: Any]] ?? []
            #expect(apps.map { $0["app"] as? String } == ["ill app", "well"])
            #expect(apps.map { $0["state"] as? String } == ["suspended", "active"])
            #expect(apps.first?["refusing_users"] as? Int == 12)
            #expect(apps.first?["suspended_since"] as? String == "1970-01-01T00:00:00Z")
            #expect(try await bench.client.ask("/apps/resume?app=ill%20app", method: "POST").status == 404)
        }
    }

    /// A verifier has a key before its first token comes, and never a private half of it.
    @Test func `a ring's public keys are served, prepared ones included`() async throws {
        let folder = try TemporaryFolder()
        try KeyRings.make(folder.path, algorithm: .es256)
        let directory = KeyRingDirectory(path: folder.path)
        var editor = try KeyRingEditor(directory)
        try editor.add(SigningKey.generate(.es256), id: "k2", at: UnixTime(seconds: 1_800_000_000))
        try await serving { bench in
            bench.status.publish(try directory.load(name: "r"))
            let answer = try await bench.client.ask("/keys/r/jwks.json")
            #expect(answer.status == 200)
            #expect(answer.type == "application/jwk-set+json")
            let keys = try #require(answer.json["keys"] as? [[String: Any]])
            #expect(keys.map { $0["kid"] as? String } == ["k1", "k2"])
            #expect(keys.allSatisfy { $0["d"] == nil && $0["x"] is String })
            #expect(try await bench.client.ask("/keys/other/jwks.json").status == 404)
        }
    }

    @Test(arguments: ["/", "/metrics/", "/health", "/../etc/passwd", "/apps/%00", "/%ff"])
    func `an unknown path of the admin server is not found`(path: String) async throws {
        try await serving { bench in
            let answer = try await bench.client.ask(path)
            #expect([200, 404].contains(answer.status), "\(path)")
            if answer.status == 200 { #expect(["/", "/metrics/"].contains(path)) }
        }
    }

    @Test func `probes and monitoring are answered, however many requests are half sent`() async throws {
        try await serving { bench in
            let port = try #require(bench.client.address.split(separator: ":").last.flatMap { Int($0) })
            let connecting = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            for _ in 0..<300 {
                // A connection above the limit may be closed before it is written to.
                guard let channel = try? await connecting.connect(host: "127.0.0.1", port: port).get() else { continue }
                try? await channel.writeAndFlush(ByteBuffer(string: "GET /metrics HTTP/1.1\r\nHost: lo")).get()
            }
            for path in ["/health/live", "/metrics"] {
                for _ in 0..<15 {
                    let client = AdminClient(address: bench.client.address)
                    #expect(try await client.ask(path).status == 200, "\(path)")
                }
            }
        }
    }

    @Test func `a canceled admin server stops and frees its port`() async throws {
        let log = RecordingLog()
        let status = WorkerStatus()
        func start(_ port: Int) -> Task<Void, any Error> {
            let server = AdminServer(
                address: .init(host: "127.0.0.1", port: port), status: status, metrics: MetricsRegistry(),
                reporter: StatusReporter(), logger: log.logger())
            return Task { try await server.run() }
        }
        let first = start(0)
        let address = await log.line(event: "admin.listening").metadata["remint.admin.address"] ?? ""
        let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
        // The port is taken.
        await #expect(throws: (any Error).self) { try await start(port).value }
        first.cancel()
        _ = await first.result
        await #expect(throws: (any Error).self) { try await AdminClient(address: address).ask("/metrics") }
    }
}
