import AsyncHTTPClient
import Bench
import Foundation
import JOSE
import NIOCore
import NIOHTTP1

/// Devices before a gateway, each with its session and a connection of its own while it waits. Every token is held against its user.
struct PickupDevices: Sendable {
    /// A device.
    struct Device: Sendable {
        let user: String
        let session: String
    }

    /// A token as a device was given it.
    struct Token: Sendable {
        let version: Int64
        let life: Int64
        /// How long the call took.
        let wait: Duration
        /// From minting to delivery, by the clock of this machine.
        let age: Duration
    }

    private let client: HTTPClient
    private let url: String
    private let report: @Sendable (String) -> String

    /// - Parameter most: how many devices may be connected at once.
    init(_ stage: PickupStage, most: Int) {
        // Thousands of connections take their time on a machine that is busy with both ends of them.
        var configuration = HTTPClient.Configuration(timeout: .init(connect: .seconds(60)))
        configuration.connectionPool = .init(
            idleTimeout: .seconds(300), concurrentHTTP1ConnectionsPerHostSoftLimit: max(1, most))
        configuration.httpVersion = .http1Only
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        url = "http://\(stage.address)"
        report = stage.app.report
    }

    func shutdown() async { try? await client.shutdown() }

    /// Whether the gateway has followed the topics to their ends.
    func isReady() async -> Bool {
        let answer = try? await client.execute(
            HTTPClientRequest(url: "\(url)/health/ready"), timeout: .seconds(5))
        _ = try? await answer?.body.collect(upTo: 1 << 16)
        return answer?.status == .ok
    }

    /// The token of `device`: any, or the next after `version`.
    func token(_ device: Device, after version: Int64? = nil) async throws -> Token {
        let query = version.map { "?after=\($0)&wait=30" } ?? ""
        return try await call(HTTPClientRequest(url: "\(url)/v1/apps/bench/token\(query)"), device)
    }

    /// Lets `device` report that its token is refused, without waiting for the next.
    func reject(_ device: Device) async throws {
        var request = HTTPClientRequest(url: "\(url)/v1/apps/bench/reports")
        request.method = .POST
        request.body = .bytes(Array(report(device.user).utf8))
        let response = try await send(request, device)
        _ = try await response.body.collect(upTo: 1 << 16)
        guard [.ok, .accepted].contains(response.status) else {
            throw BenchFailed("a report was answered with \(response.status.code)")
        }
    }

    private func send(_ request: HTTPClientRequest, _ device: Device) async throws -> HTTPClientResponse {
        var request = request
        request.headers.add(name: "authorization", value: "Bearer \(device.session)")
        do {
            return try await client.execute(request, timeout: .seconds(60))
        } catch let error as HTTPClientError where error == .remoteConnectionClosed {
            // It was kept too long without a call. Every call may be made twice.
            return try await client.execute(request, timeout: .seconds(60))
        }
    }

    private func call(_ request: HTTPClientRequest, _ device: Device) async throws -> Token {
        let start = ContinuousClock.now
        let response = try await send(request, device)
        let body = Array(buffer: try await response.body.collect(upTo: 1 << 16))
        let (wait, now) = (ContinuousClock.now - start, Date.now.timeIntervalSince1970)
        guard response.status == .ok, let root = try? JSONDocument(parsing: body).root,
            let version = root["version"]?.integer, let life = root["expires_in"]?.integer
        else { throw BenchFailed("a call was answered with \(response.status.code)") }
        guard Self.isToken(root["token"]?.string, of: device.user) else {
            throw BenchFailed("a device was given another's token")
        }
        return Token(version: version, life: life, wait: wait, age: .seconds(now - Double(version) / 1e6))
    }

    private static func isToken(_ token: String?, of user: String) -> Bool {
        guard let parts = token?.split(separator: "."), parts.count == 3,
            let claims = try? Base64.url.decode(Array(parts[1].utf8)[...])
        else { return false }
        return String(decoding: claims, as: UTF8.self).contains("\"\(user)\"")
    }
}
