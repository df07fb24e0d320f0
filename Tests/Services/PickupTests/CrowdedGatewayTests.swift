import Access
import AdapterKit
import Formats
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Serving
import Synchronization
import Testing
import WorkerConfiguration

@testable import Pickup

/// A gateway's connections over real sockets, most of which one account holds.
@Suite(.timeLimit(.minutes(5))) struct CrowdedGatewayTests {
    /// The gateway's connections and places, with calls that wait for ever.
    private struct Gateway {
        static let connections = 16

        let channel: any Channel
        /// Each connection that the gateway accepted.
        let accepted: AsyncStream<any Channel>
        var port: Int { channel.localAddress?.port ?? 0 }

        init() async throws {
            var pickup = Configuration.Pickup()
            pickup.addressStreams = .max
            let places = CallPlaces(pickup, connections: Self.connections)
            let connection = DeviceConnection(
                connections: OpenConnections(most: Self.connections), served: ServedConnections(),
                date: AnswerDate { UnixTime(seconds: 0) }, isStopping: { false }, dropped: { _ in }, refused: { _ in },
                respond: { request, body, channel, reply in
                    await Self.respond(to: request, body, channel, places, reply)
                })
            let (accepted, more) = AsyncStream.makeStream(of: (any Channel).self)
            self.accepted = accepted
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { channel in
                    more.yield(channel)
                    return connection.setup(channel: channel, logger: Logger(label: "test")).map { _ in }
                }.bind(host: "127.0.0.1", port: 0).get()
        }

        @Sendable private static func respond(
            to request: Request, _ body: ArrivingBody, _ channel: any Channel, _ places: CallPlaces,
            _ reply: @escaping CallHandler.Reply
        ) async {
            let call = request.head.path.flatMap { PickupCall(target: $0) }
            let user = request.headers[.authorization] ?? ""
            let asker = Asker(
                vouched: [], subject: Subject(user: user), device: nil, callers: [.user(issuer: "i", user: user)],
                sessionEnd: nil)
            do throws(Problem) {
                switch call {
                case .token(let app) where request.head.path?.hasSuffix("?after=1") == true:
                    let place = try places.take(.wait, asker, app, from: nil) { reply($0.answer) }
                    ClientDeparture.tell(channel) { place.release() }
                case .stream(let app):
                    let (hushed, hush) = AsyncStream.makeStream(of: Void.self)
                    let place = try places.take(.stream, asker, app, from: nil) { _ in hush.finish() }
                    ClientDeparture.tell(channel) {
                        place.release()
                        hush.finish()
                    }
                    reply(Answer(.ok, [:]) { _ in for await _ in hushed {} })
                case .reports(let app):
                    let place = try places.take(.report, asker, app, from: nil) { body.fail($0) }
                    _ = try? await body.collect()
                    place.release()
                    reply(Answer(.ok))
                default: reply(Answer(.ok))
                }
            } catch { reply(error.answer) }
        }
    }

    /// Collects the bytes that a connection receives until its end.
    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private var text = ""
        private let ended: EventLoopPromise<String>

        init(_ ended: EventLoopPromise<String>) { self.ended = ended }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { text += String(buffer: unwrapInboundIn(data)) }
        func channelInactive(context: ChannelHandlerContext) { ended.succeed(text) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private static func connect(_ port: Int) async throws -> (channel: any Channel, text: EventLoopFuture<String>) {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let ended = loop.makePromise(of: String.self)
        let channel = try await ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(ended))
                }
            }.connect(host: "127.0.0.1", port: port).get()
        return (channel, ended.futureResult)
    }

    private static func head(_ target: String, _ user: String, _ fields: String = "") -> String {
        "\(target) HTTP/1.1\r\nHost: a\r\nAuthorization: \(user)\r\n\(fields)"
    }

    /// The bytes of the account's connections, and whether its client then closes its side, or leaves.
    private static let greedy: [(bytes: String, mode: CloseMode?)] = [
        (head("GET /v1/apps/a/token?after=1", "greedy", "\r\n"), nil),
        (head("GET /v1/apps/b/token?after=1", "greedy", "\r\n"), nil),
        (head("GET /v1/apps/a/token/stream", "greedy", "\r\n"), nil),
        (head("GET /v1/apps/b/token/stream", "greedy", "\r\n"), nil),
        (head("GET /v1/apps/c/token?after=1", "greedy", "\r\n"), .output),
        (head("GET /v1/apps/c/token/stream", "greedy", "\r\n"), .all),
        (head("GET /v1/apps/a/token?after=1", "greedy"), nil), ("G", .output), ("", nil),
        (head("POST /v1/apps/a/reports", "greedy", "Content-Length: 9\r\n\r\n{"), nil),
    ]

    @Test func `an honest caller is answered, however one account holds its connections`() async throws {
        let gateway = try await Gateway()
        var accepted = gateway.accepted.makeAsyncIterator()
        var held: [any Channel] = []
        for number in 0..<100 {
            let (bytes, mode) = Self.greedy[number % Self.greedy.count]
            let channel = try await Self.connect(gateway.port).channel
            let server = try #require(await accepted.next())
            let timeout = try? await server.getOption(DeviceConnection.userTimeout).get()
            #expect(timeout == nil || timeout == DeviceConnection.unconfirmed)
            // A connection that already gave way cannot be written to.
            try? await channel.writeAndFlush(ByteBuffer(string: bytes)).get()
            if let mode { try? await channel.close(mode: mode).get() }
            held.append(channel)
        }
        for _ in 0..<20 {
            let (channel, text) = try await Self.connect(gateway.port)
            let request = Self.head("GET /v1/apps/a/token", "honest", "Connection: close\r\n\r\n")
            try? await channel.writeAndFlush(ByteBuffer(string: request)).get()
            #expect(try await text.get().hasPrefix("HTTP/1.1 200 "))
        }
        for channel in held { try? await channel.close().get() }
        try await gateway.channel.close().get()
    }
}
