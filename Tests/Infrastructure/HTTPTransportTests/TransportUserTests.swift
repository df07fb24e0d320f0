import AsyncTestSupport
import CertificateTestSupport
import Foundation
import HTTPTransport
import NIOCore
import Testing

@Suite("Every user of the transport", .timeLimit(.minutes(5))) struct TransportUserTests {
    /// A fault, with the words of its reason and the time an exchange gets.
    struct Row: Sendable, CustomTestStringConvertible {
        let fault: @Sendable (FaultyServer) -> Fault
        let reason: String
        var limit = Duration.seconds(60)
        let testDescription: String
    }

    private static let canary = "s3cr3t"

    static let rows = [
        Row(
            fault: { .redirect(to: "\($0.url)/elsewhere?\(Self.canary)") }, reason: "status 302, a redirect",
            testDescription: "redirects to https elsewhere"),
        Row(
            fault: { .redirect(to: "http://127.0.0.1:\($0.host.split(separator: ":")[1])/?\(Self.canary)") },
            reason: "status 302, a redirect", testDescription: "redirects to http"),
        // Nothing answers in time, so these have little of it.
        Row(
            fault: { _ in .stall }, reason: "no answer within 1500 ms", limit: .milliseconds(1500),
            testDescription: "stalls after the head"),
        Row(
            fault: { _ in .drip(every: .milliseconds(50)) }, reason: "no answer within 1500 ms",
            limit: .milliseconds(1500), testDescription: "drips"),
        Row(
            fault: { _ in .flood(bytes: 2 << 30, declared: false) }, reason: "with a body of more than",
            testDescription: "sends 2 GB in chunks"),
        Row(
            fault: { _ in .flood(bytes: 2 << 30, declared: true) }, reason: "with a body of more than",
            testDescription: "sends 2 GB, announced"),
        Row(
            fault: { _ in .oldTLS }, reason: "no agreement on TLS; the endpoint must speak TLS 1.2 or later",
            testDescription: "speaks TLS 1.1"),
        Row(
            fault: { _ in .half }, reason: "the connection was closed before the answer was whole",
            testDescription: "closes half way"),
        Row(fault: { _ in .encoded }, reason: "an encoded body", testDescription: "compresses"),
    ]

    /// More than any machine's sockets hold of an answer that nobody reads, and a quarter of the long one, in bytes.
    private static let mostWritten = 512 << 20

    @Test(arguments: TransportUser.allCases, rows)
    func `an exchange with a faulty server ends, is reported once, and the next one works`(
        user: TransportUser, row: Row
    ) async throws {
        let certificates = try await TestCertificates.ofLocalhost()
        let server = try await FaultyServer.start(certificates, fault: nil, body: user.body)
        server.fault = row.fault(server)
        let log = RecordingLog()
        let running = Task { try await user.run(server, certificates, limit: row.limit, log) }
        let failure = await log.line { [events = user.events] in $0.event == events.failed }
        let detail = try #require(failure.metadata["remint.detail"])
        #expect(detail.contains("localhost:"), "\(detail)")
        let (connections, requests) = (server.connections, server.requests)
        try await eventually("another try") { server.connections > connections || server.requests > requests }
        #expect(!log.lines.contains { $0.event == user.events.recovered })
        #expect(!server.targets.contains { $0.contains(Self.canary) }, "no redirect is followed")
        #expect(server.written <= max(1, server.requests) * Self.mostWritten, "a body of 2 GB is not read to its end")
        server.fault = nil
        let recovery = await log.line(event: user.events.recovered)
        #expect(recovery.metadata["remint.outage"]?.hasSuffix("s") == true)
        running.cancel()
        try await running.value
        let failures = log.lines.filter { $0.event == user.events.failed }.compactMap { $0.metadata["remint.detail"] }
        #expect(Set(failures).count == failures.count, "once for each reason: \(failures)")
        #expect(failures.contains { $0.contains(row.reason) }, "\(failures)")
        #expect(!log.lines.contains { "\($0)".contains(Self.canary) })
        try await eventually("no connection is left") { server.open == 0 }
        await server.stop()
    }

    @Test(arguments: [Fault.stall, .drip(every: .milliseconds(50))])
    func `a collector that answers without end delays the worker's end by seconds at most`(_ fault: Fault) async throws
    {
        let certificates = try await TestCertificates.ofLocalhost()
        let server = try await FaultyServer.start(
            certificates, fault: fault, body: TransportUser.collector.body)
        let running = Task {
            try await TransportUser.collector.run(server, certificates, limit: .seconds(3600), RecordingLog())
        }
        try await eventually("a request") { server.requests > 0 }
        running.cancel()
        // Seconds, without a bound in real time: the collector's own hour would outlast the suite's limit.
        try await running.value
        await server.stop()
    }
}

extension TestCertificates {
    /// An authority, a certificate of localhost by it, and a file with a secret.
    static func ofLocalhost() async throws -> TestCertificates {
        let certificates = try TestCertificates()
        try await certificates.make("authority")
        try await certificates.make("localhost", signedBy: "authority")
        let secret = certificates.path("secret")
        try Data("client-secret".utf8).write(to: URL(filePath: secret))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        return certificates
    }
}
