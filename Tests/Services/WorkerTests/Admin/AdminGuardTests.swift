import AsyncTestSupport
import Foundation
import FoundationNetworking
import JOSE
import Telemetry
import Testing
import WorkerTestSupport

@testable import Worker
@testable import WorkerConfiguration

/// Tests of the callers that the admin server refuses.
@Suite(.timeLimit(.minutes(5))) struct AdminGuardTests {
    struct Attempt: CustomTestStringConvertible, Sendable {
        let name: String
        var path = "/apps"
        var method = "GET"
        var headers: [String: String] = [:]
        var token = false
        let status: Int

        var testDescription: String { name }
    }

    /// `%` stands for the server's own address.
    private static let attempts: [Attempt] = [
        .init(name: "a monitor", status: 200),
        .init(name: "its own page", headers: ["Origin": "http://%", "Sec-Fetch-Site": "same-origin"], status: 200),
        .init(name: "somebody who types the address", headers: ["Sec-Fetch-Site": "none"], status: 200),
        .init(name: "another page", headers: ["Origin": "https://evil.example"], status: 403),
        .init(
            name: "another page's form", method: "POST",
            headers: ["Origin": "null", "Sec-Fetch-Site": "cross-site"], status: 403),
        .init(name: "an image of another page", headers: ["Sec-Fetch-Site": "cross-site"], status: 403),
        .init(name: "a page of the same site", headers: ["Sec-Fetch-Site": "same-site"], status: 403),
        .init(name: "the same host over TLS", headers: ["Origin": "https://%"], status: 403),
        .init(name: "a name that was bound to this address", headers: ["Host": "evil.example"], status: 421),
        .init(name: "such a name with the port", headers: ["Host": "evil.example:9100"], status: 421),
        .init(
            name: "such a name that asks for health", path: "/health/ready", headers: ["Host": "evil.example"],
            status: 421),
        .init(name: "an address of another network", headers: ["Host": "10.1.2.3:9100"], status: 200),
        .init(name: "an address of IPv6", headers: ["Host": "[2001:db8::7]:9100"], status: 200),
        .init(name: "a name that begins like an address", headers: ["Host": "10.1.2.3.evil.example"], status: 421),
        .init(name: "a configured name", headers: ["Host": "Workers.Example:9100"], status: 200),
        .init(name: "no token", token: true, status: 401),
        .init(name: "no token, metrics", path: "/metrics", token: true, status: 401),
        .init(name: "the token", headers: ["Authorization": "Bearer t0ken-of-the-server"], token: true, status: 200),
        .init(
            name: "the scheme in other letters", headers: ["Authorization": "bearer t0ken-of-the-server"], token: true,
            status: 200),
        .init(
            name: "a part of the token", headers: ["Authorization": "Bearer t0ken-of-the-serve"], token: true,
            status: 401),
        .init(
            name: "more than the token", headers: ["Authorization": "Bearer t0ken-of-the-server " + "x"], token: true,
            status: 401),
        .init(
            name: "another scheme", headers: ["Authorization": "Basic t0ken-of-the-server"], token: true, status: 401),
        .init(name: "a probe", path: "/health/live", token: true, status: 200),
        .init(name: "no token, the page without its figures", path: "/", token: true, status: 200),
        .init(name: "no token, the meaning of codes", path: "/codes", token: true, status: 200),
        .init(name: "no token, the fleet", path: "/fleet", token: true, status: 401),
        .init(name: "no token, its figures", path: "/status", token: true, status: 401),
        .init(
            name: "the token, the figures", path: "/status", headers: ["Authorization": "Bearer t0ken-of-the-server"],
            token: true, status: 200),
        .init(
            name: "a link to the page from elsewhere", path: "/",
            headers: ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"],
            status: 200),
        .init(
            name: "a link to the figures from elsewhere", path: "/status",
            headers: ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"],
            status: 403),
        .init(
            name: "the page in another page's frame", path: "/",
            headers: ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"],
            status: 403),
        .init(
            name: "the page, asked for by another page's script", path: "/",
            headers: ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "empty"],
            status: 403),
    ]

    @Test(arguments: attempts) func `the admin server checks the caller before it answers`(_ attempt: Attempt)
        async throws
    {
        let log = RecordingLog()
        var server = AdminServer(
            address: .init(host: "127.0.0.1", port: 0, hosts: ["workers.example"], tokenFile: nil),
            status: WorkerStatus(), metrics: MetricsRegistry(), reporter: StatusReporter(), logger: log.logger())
        if attempt.token { server.token = SecretBytes(copying: "t0ken-of-the-server".utf8) }
        let running = Task { [server] in try await server.run() }
        let address = await log.line(event: "admin.listening").metadata["remint.admin.address"] ?? ""
        let headers = attempt.headers.mapValues { $0.replacing("%", with: address) }
        let answer = try await AdminClient(address: address).ask(
            attempt.path, method: attempt.method, headers: headers)
        #expect(answer.status == attempt.status)
        #expect(!answer.body.contains("t0ken"))
        running.cancel()
        _ = await running.result
    }
}

/// A monitor's view of a worker's admin server.
struct AdminClient {
    struct Answer {
        let status: Int
        let type: String
        let body: String

        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
        }
    }

    /// The address at which the server listens.
    let address: String
    private let session = URLSession(configuration: .ephemeral)

    init(address: String) { self.address = address }

    func ask(_ path: String, method: String = "GET", headers: [String: String] = [:]) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: "http://\(address)\(path)")))
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.timeoutInterval = 20
        let (data, response) = try await session.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        return Answer(
            status: http.statusCode, type: http.value(forHTTPHeaderField: "content-type") ?? "",
            body: String(decoding: data, as: UTF8.self))
    }

    /// The value of one sample, such as `remint_sessions_total` or `remint_events_total{lane="live"}`; 0 where it is
    /// not there.
    func metric(_ sample: String) async throws -> Double {
        let lines = try await ask("/metrics").body.split(separator: "\n")
        return lines.first { $0.hasPrefix("\(sample) ") }.flatMap { Double($0.dropFirst(sample.count + 1)) } ?? 0
    }
}
