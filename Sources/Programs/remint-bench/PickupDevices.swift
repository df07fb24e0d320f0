import AdapterKit
import Bench
import CommandKit
import Demonstration
import Foundation
import JOSE
import NIOCore
import NIOHTTP1
import NIOPosix

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

/// A device's connection to a gateway: one call at a time. A pool for thousands of connections would take more time to choose one
/// than the gateway takes to answer.
struct DeviceConnection: Sendable {
    /// An answer.
    struct Answer: Sendable {
        let status: Int
        let body: [UInt8]
    }

    private let channel: any Channel
    private let host: String

    /// Connects.
    init(host: String, port: Int) async throws {
        self.host = "\(host):\(port)"
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(60))
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(AnswerCollector())
                }
            }
            .connect(host: host, port: port).get()
    }

    /// Makes a call with a session, and returns the answer.
    func call(_ method: HTTPMethod, _ path: String, session: String, body: [UInt8] = []) async throws -> Answer {
        var headers = HTTPHeaders([("host", host), ("authorization", "Bearer \(session)")])
        if method == .POST { headers.add(name: "content-length", value: "\(body.count)") }
        let answer = channel.eventLoop.makePromise(of: Answer.self)
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers)
        channel.write(AnswerCollector.Call(head: head, body: body, answer: answer), promise: nil)
        channel.flush()
        return try await answer.futureResult.get()
    }

    func close() async { try? await channel.close() }
}

/// Collects the parts of an answer, and passes it to the caller.
private final class AnswerCollector: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Call
    typealias OutboundOut = HTTPClientRequestPart

    /// A request and the caller that waits for its answer.
    struct Call: Sendable {
        let head: HTTPRequestHead
        let body: [UInt8]
        let answer: EventLoopPromise<DeviceConnection.Answer>
    }

    private var waiting: EventLoopPromise<DeviceConnection.Answer>?
    private var status = 0
    private var body: [UInt8] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let call = unwrapOutboundIn(data)
        waiting = call.answer
        context.write(wrapOutboundOut(.head(call.head)), promise: nil)
        if !call.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: call.body)))), promise: nil)
        }
        context.write(wrapOutboundOut(.end(nil)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (status, body) = (Int(head.status.code), [])
        case .body(let buffer): body += buffer.readableBytesView
        case .end: end(.success(DeviceConnection.Answer(status: status, body: body)))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(BenchFailed("the gateway closed a connection")))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.failure(error))
        context.close(promise: nil)
    }

    private func end(_ result: Result<DeviceConnection.Answer, any Error>) {
        waiting?.completeWith(result)
        waiting = nil
    }
}
