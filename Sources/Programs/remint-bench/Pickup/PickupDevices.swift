import AdapterKit
import Bench
import CommandKit
import Demonstration
import Foundation
import JOSE
import NIOHTTP1

/// Devices of a gateway, each with its session and a connection of its own. Every token is checked against its user.
struct PickupDevices: Sendable {
    /// A device.
    struct Device: Sendable {
        let user: String
        let session: String
        let connection: DeviceConnection
    }

    /// A token as a device was given it.
    struct Token: Sendable {
        let version: Int64
        /// The rest of the token's life, in seconds.
        let life: Int64
        /// The length of the call.
        let wait: Duration
        /// The time from minting to delivery, by the clock of this machine.
        let age: Duration
    }

    private let host: String
    private let port: Int
    private let login: SampleLogin
    private let report: @Sendable (String) -> String

    init(_ stage: PickupStage) {
        (host, port, login, report) = (stage.host, stage.port, stage.login, stage.app.report)
    }

    /// Returns a connected device of `user`.
    func device(_ user: String) async throws -> Device {
        Device(
            user: user, session: try login.session(of: user, at: UnixTime.system()),
            connection: try await DeviceConnection(host: host, port: port))
    }

    /// Returns whether the gateway has followed the topics to their ends.
    func isReady() async -> Bool {
        guard let connection = try? await DeviceConnection(host: host, port: port) else { return false }
        let answer = try? await connection.call(.GET, "/health/ready", session: "")
        await connection.close()
        return answer?.status == 200
    }

    /// Returns the token of `device`: any, or the next one after `version`.
    func token(_ device: Device, after version: Int64? = nil) async throws -> Token {
        let query = version.map { "?after=\($0)&wait=30" } ?? ""
        let start = ContinuousClock.now
        let answer = try await device.connection.call(
            .GET, "/v1/apps/bench/token\(query)", session: device.session)
        let (wait, now) = (ContinuousClock.now - start, Date.now.timeIntervalSince1970)
        guard answer.status == 200, let root = try? JSONDocument(parsing: answer.body).root,
            let version = root["version"]?.integer, let life = root["expires_in"]?.integer
        else { throw BenchFailed("a call was answered with \(answer.status)") }
        guard Self.isToken(root["token"]?.string, of: device.user) else {
            throw BenchFailed("a device was given another's token")
        }
        return Token(version: version, life: life, wait: wait, age: .seconds(now - Double(version) / 1e6))
    }

    /// Reports, on a connection of its own, that the token of `device` is refused, without waiting for the next.
    func reject(_ device: Device) async throws {
        let connection = try await DeviceConnection(host: host, port: port)
        let answer = try await connection.call(
            .POST, "/v1/apps/bench/reports", session: device.session, body: Array(report(device.user).utf8))
        await connection.close()
        guard [200, 202].contains(answer.status) else {
            throw BenchFailed("a report was answered with \(answer.status)")
        }
    }

    private static func isToken(_ token: String?, of user: String) -> Bool {
        guard let parts = token?.split(separator: "."), parts.count == 3,
            let claims = try? Base64.url.decode(Array(parts[1].utf8)[...])
        else { return false }
        return String(decoding: claims, as: UTF8.self).contains("\"\(user)\"")
    }
}
