import AdapterKit
import NIOCore
import NIOHTTP1

/// A connection: reads requests, one after the other, and performs the server's reactions.
final class StubConversation: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    /// The longest request body that is taken, in bytes.
    private static let maximumBody = 16 << 20
    /// The number of bytes that a flood writes at a time.
    private static let pieceBytes = 64 << 10

    private struct Request {
        let request: StubRequest
        let isLast: Bool
    }

    private let state: StubState
    private let edge: SocketEdge
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    /// Requests that came before the last one was answered.
    private var waiting: [Request] = []
    private var current: Request?
    private var timer: Scheduled<Void>?

    init(_ state: StubState, _ edge: SocketEdge) {
        self.state = state
        self.edge = edge
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            (self.head, body) = (head, [])
            if head.headers[canonicalForm: "expect"].contains("100-continue") {
                write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), context)
            }
        case .body(let part):
            body += part.readableBytesView
            if body.count > Self.maximumBody { refuse(413, context) }
        case .end:
            guard let head else { return }
            let request = StubRequest(
                method: head.method.rawValue, target: head.uri,
                headers: head.headers.map { (name: $0.name, value: $0.value) }, body: body)
            (self.head, body) = (nil, [])
            waiting.append(Request(request: request, isLast: !head.isKeepAlive))
            answerNext(context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        waiting = []
        finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError { refuse(400, context) } else { context.close(promise: nil) }
    }

    /// Ends the connection over a request that is not taken.
    private func refuse(_ status: Int, _ context: ChannelHandlerContext) {
        head = nil
        let answer = StubResponse(status: status, json: #"{"message":"the request is not taken"}"#)
        writeAndClose(ResponseBytes.whole(answer, isHead: false, isLast: true), context)
    }

    private func answerNext(_ context: ChannelHandlerContext) {
        guard current == nil, !waiting.isEmpty, context.channel.isActive else { return }
        let request = waiting.removeFirst()
        current = request
        perform(state.arrived(request.request), context)
    }

    private func finish() {
        guard current != nil else { return }
        current = nil
        state.ended()
    }

    // MARK: Reactions

    private func perform(_ reaction: Reaction, _ context: ChannelHandlerContext) {
        switch reaction {
        case .answer(let response, .zero): answer(response, context)
        case .answer(let response, let delay):
            timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
                self.answer(response, context)
            }
        case .lastWords(let bytes): writeAndClose(bytes, context)
        case .drip(let bytes, let byte, let interval):
            write(bytes, context)
            drip(byte, TimeAmount(interval), context)
        case .flood(let bytes, let declared): flood(bytes, declared, context)
        case .silence: break
        case .close: context.close(promise: nil)
        case .reset: edge.sever(withReset: true)
        }
    }

    private func answer(_ response: StubResponse, _ context: ChannelHandlerContext) {
        guard let current else { return }
        let bytes = ResponseBytes.whole(
            response, isHead: current.request.method == "HEAD", isLast: current.isLast)
        end(with: bytes, context)
    }

    /// Writes the last of an answer, and takes the next request or ends the connection.
    private func end(with bytes: [UInt8], _ context: ChannelHandlerContext) {
        if current?.isLast ?? true {
            writeAndClose(bytes, context)
        } else {
            write(bytes, context)
            finish()
            answerNext(context)
        }
    }

    private func drip(_ bytes: [UInt8], _ interval: TimeAmount, _ context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: interval) {
            self.write(bytes, context)
            self.drip(bytes, interval, context)
        }
    }

    /// Writes a JSON text of one long string, piece by piece, as fast as the client takes it.
    private func flood(_ bytes: Int, _ isDeclared: Bool, _ context: ChannelHandlerContext) {
        let opening = Array(#"{"padding":""#.utf8)
        let closing = Array(#""}"#.utf8)
        let framing =
            isDeclared
            ? (name: "content-length", value: "\(opening.count + bytes + closing.count)")
            : (name: "transfer-encoding", value: "chunked")
        func framed(_ bytes: [UInt8]) -> [UInt8] { isDeclared ? bytes : ResponseBytes.chunk(bytes) }
        let head = ResponseBytes.head(status: 200, headers: [("content-type", "application/json"), framing])
        write(head + framed(opening), context)
        pour(bytes, framed, context) {
            self.end(with: framed(closing) + (isDeclared ? [] : ResponseBytes.lastChunk), context)
        }
    }

    private func pour(
        _ bytes: Int, _ framed: @escaping ([UInt8]) -> [UInt8], _ context: ChannelHandlerContext,
        then end: @escaping () -> Void
    ) {
        guard bytes > 0 else { return end() }
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: min(bytes, Self.pieceBytes))
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess {
            self.pour(bytes - piece.count, framed, context, then: end)
        }
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: framed(piece))), promise: written)
    }

    private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    private func writeAndClose(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: written)
    }
}
