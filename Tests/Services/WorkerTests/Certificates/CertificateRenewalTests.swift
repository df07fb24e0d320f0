import AdapterKit
import AsyncTestSupport
import CertificateTestSupport
import Foundation
import JOSE
import Kafka
import Logging
import Telemetry
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Preflight
@testable import Wiring
@testable import Worker

private typealias Certificates = CertificateTestSupport.Certificates

/// Tests of the changes of files that cause new clients.
@Suite struct CertificateRenewalTests {
    /// Three states of a file.
    private func states() throws -> [ClientCertificates.Revisions] {
        let folder = try TemporaryFolder()
        return try (1...3).map { size in
            let path = "\(folder.path)/\(size)"
            try Data(repeating: 0, count: size).write(to: URL(filePath: path))
            return [FileRevision(of: path)]
        }
    }

    @Test func `files that changed and then stay as they are are checked, and new clients are made once`() throws {
        let states = try states()
        var renewal = CertificateRenewal(used: states[0])
        #expect(renewal.look(states[0]) == .nothing)
        #expect(renewal.look(states[1]) == .nothing)
        #expect(renewal.look(states[1]) == .check)
        #expect(renewal.checked(states[1], problem: nil) == .renew)
        #expect(renewal.look(states[1]) == .nothing)
    }

    @Test func `files that are being replaced are not checked yet`() throws {
        let states = try states()
        var renewal = CertificateRenewal(used: states[0])
        for state in [states[1], [nil], states[2]] { #expect(renewal.look(state) == .nothing) }
        #expect(renewal.look(states[2]) == .check)
    }

    @Test func `files that were refused are checked again, for their owner may have changed`() throws {
        let states = try states()
        var renewal = CertificateRenewal(used: states[0])
        _ = renewal.look(states[1])
        #expect(renewal.look(states[1]) == .check)
        #expect(renewal.checked(states[1], problem: "may not be read") == .say("may not be read"))
        let steps = (1...10).map { _ in renewal.look(states[1]) }
        #expect(steps == Array(repeating: .nothing, count: 9) + [.check])
        #expect(renewal.checked(states[1], problem: nil) == .renew)
    }

    @Test func `files that do not fit are reported once, and checked again when they change`() throws {
        let states = try states()
        var renewal = CertificateRenewal(used: states[0])
        _ = renewal.look(states[1])
        #expect(renewal.look(states[1]) == .check)
        #expect(renewal.checked(states[1], problem: "no pair") == .say("no pair"))
        #expect(renewal.look(states[1]) == .nothing)
        _ = renewal.look(states[2])
        #expect(renewal.look(states[2]) == .check)
        #expect(renewal.checked(states[2], problem: "no pair") == .nothing)
        _ = renewal.look([nil])
        #expect(renewal.look([nil]) == .check)
        #expect(renewal.checked([nil], problem: "no file") == .say("no file"))
        #expect(renewal.look(states[0]) == .nothing, "put back, nothing has changed")
        _ = renewal.look(states[1])
        #expect(renewal.look(states[1]) == .check)
        #expect(renewal.checked(states[1], problem: nil) == .renew)
    }
}

/// The files of a client's certificate while they are replaced.
@Suite(.timeLimit(.minutes(5))) struct CertificateFileTests {
    private func configuration(_ certificates: Certificates) throws -> Configuration {
        try readConfiguration(
            workerConfiguration(
                brokers: "broker.example:9093",
                kafka: [
                    "security.protocol: ssl", "ssl.ca.location: \(certificates.path("authority.pem"))",
                    "ssl.certificate.location: \(certificates.path("client.pem"))",
                    "ssl.key.location: \(certificates.path("client.key"))",
                ]))
    }

    /// Puts `name` in the place of the file `other`, as those do who replace secrets: in one step.
    private func replace(_ other: String, with name: String, in certificates: Certificates) throws {
        let copy = certificates.path("\(name).copy")
        try FileManager.default.copyItem(atPath: certificates.path(name), toPath: copy)
        try #require(rename(copy, certificates.path(other)) == 0)
    }

    @Test func `a configuration without certificate files has nothing to watch`() throws {
        #expect(ClientCertificates(try readConfiguration(workerConfiguration(brokers: "127.0.0.1:9092"))) == nil)
    }

    @Test func `a pair that does not match is waited out, and new clients follow the whole one`() async throws {
        let certificates = try Certificates()
        try await certificates.make("authority")
        try await certificates.make("client", signedBy: "authority")
        try await certificates.makeExpired("old", signedBy: "authority")
        let files = try #require(ClientCertificates(try configuration(certificates)))
        #expect(files.problem == nil)
        let end = try #require(files.end)
        #expect(end > UnixTime(seconds: 1_580_515_200))

        let log = RecordingLog(), status = WorkerStatus(), metrics = WorkerMetrics()
        let watcher = CertificateWatcher(
            files, logger: log.logger(.info), interval: .milliseconds(5), renew: { status.renewClients() },
            ended: { if let end = $0 { metrics.certificateEnd.set(Double(end.seconds)) } })
        let watching = Task { await watcher.run() }
        defer { watching.cancel() }
        try replace("client.pem", with: "old.pem", in: certificates)
        let warning = await log.line(event: "kafka-certificates.refused")
        #expect(warning.level == .warning)
        #expect(warning.metadata["remint.detail"]?.isEmpty == false)
        #expect(!status.takeRenewal())
        try replace("client.key", with: "old.key", in: certificates)
        await log.line(event: "kafka-certificates.changed")
        try await eventually("the wish") { status.takeRenewal() }
        #expect(log.lines.count == 2)
        // 1 February 2020.
        #expect(files.end == UnixTime(seconds: 1_580_515_200))
    }

    @Test func `the worker goes on with new clients, in order`() async throws {
        let certificates = try Certificates()
        try await certificates.make("authority")
        try await certificates.make("client", signedBy: "authority")
        try await certificates.makeExpired("old", signedBy: "authority")
        // The embedded broker speaks no TLS: the files are watched all the same.
        let files = ["ssl.certificate.location: \(certificates.path("client.pem"))"]
        try await RunningWorker.with(kafka: files, more: "delivery: at_least_once") { worker in
            await worker.assigned()
            try await worker.produce(0..<5)
            try await eventually("the first ends") { worker.ends.count == 5 }
            let expiry = "remint_kafka_client_certificate_expiry_timestamp_seconds"
            #expect(try await worker.admin.metric(expiry) > 1_580_515_200)
            try replace("client.pem", with: "old.pem", in: certificates)
            try await eventually("another session") { try await worker.admin.metric("remint_sessions_total") == 2 }
            #expect(try await worker.admin.metric(expiry) == 1_580_515_200)
            try await worker.produce(5..<10)
            try await eventually("the other ends") { worker.ends.events.count == 10 }
            try await eventually("readiness") { try await worker.admin.ask("/health/ready").status == 200 }
            #expect(worker.ends.count == 10, "nothing finished twice")
            try await worker.stop()
            let alarms = worker.log.lines.filter { $0.level >= .error }
            #expect(alarms.isEmpty, "\(alarms)")
        }
    }

    /// librdkafka's commit takes as long as the brokers take, and cannot be called off.
    @Test func `a worker whose commit hangs goes on with new clients once the renewal's time is up`() async throws {
        let certificates = try Certificates()
        try await certificates.make("authority")
        try await certificates.make("client", signedBy: "authority")
        try await certificates.makeExpired("old", signedBy: "authority")
        let files = ["ssl.certificate.location: \(certificates.path("client.pem"))"]
        try await RunningWorker.with(kafka: files, more: "worker: { shutdown_deadline: 1s }") { worker in
            await worker.assigned()
            let errors = [EmbeddedBroker.ResponseError](repeating: .coordinatorNotAvailable, count: 200_000)
            try await worker.broker.inject(.errors(.endTransaction, errors))
            try await worker.produce(0..<5)
            try await eventually("a processed batch") {
                try await worker.admin.metric("remint_batch_duration_seconds_count") >= 1
            }
            try replace("client.pem", with: "old.pem", in: certificates)
            // The broker still answers no commit.
            await worker.log.line(event: "last-commit.unanswered")
            try await eventually("another session") { try await worker.admin.metric("remint_sessions_total") == 2 }
            #expect(worker.ends.count == 0)
            try await worker.broker.inject(.noErrors(.endTransaction))
            try await eventually("the ends") { worker.ends.events.count == 5 }
            try await eventually("readiness") { try await worker.admin.ask("/health/ready").status == 200 }
            try await worker.stop()
        }
    }
}

/// The ends of the certificates that a configuration names, in `remint check`.
@Suite struct CertificateEndTests {
    private static func notices(_ certificate: String, _ key: String, at now: UnixTime) throws -> [Diagnostic] {
        let folder = try TemporaryFolder()
        try KeyRings.make("\(folder.path)/ring")
        let text = workerConfiguration(
            brokers: "127.0.0.1:1",
            kafka: ["security.protocol: SSL", "ssl.certificate.location: \(certificate)", "ssl.key.location: \(key)"],
            ring: "\(folder.path)/ring",
            more: "admin: { listen: \"127.0.0.1:0\", tls: { certificate: \(certificate), key: \(key) } }")
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil })
        return Preflight(file: "c.yaml", registry: registry, source: source).notices(at: now)
            .filter { $0.message.contains("the certificate") }
    }

    @Test func `a certificate that ends within 30 days is a warning, and an expired one an error`() async throws {
        let certificates = try Certificates()
        try await certificates.make("authority")
        try await certificates.make("near", signedBy: "authority")
        try await certificates.makeExpired("over", signedBy: "authority")
        let now = UnixTime(seconds: Int64(Date.now.timeIntervalSince1970))
        let near = try Self.notices(certificates.path("near.pem"), certificates.path("near.key"), at: now)
        #expect(near.map(\.severity) == [.warning, .warning])
        #expect(near.first?.message.hasPrefix("ssl.certificate.location: the certificate expires at ") == true)
        #expect(near.last?.message.hasPrefix("admin.tls.certificate: the certificate expires at ") == true)
        let over = try Self.notices(certificates.path("over.pem"), certificates.path("over.key"), at: now)
        #expect(over.map(\.severity) == [.error, .error])
        #expect(over.first?.message.contains("expired at 2020-02-01T00:00:00Z") == true)
    }
}
