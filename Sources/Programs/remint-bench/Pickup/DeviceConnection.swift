import Bench
import NIOCore
import NIOHTTP1
import NIOPosix

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
