import HTTPTypes
import NIOCore
import NIOHTTP1

/// The rules of HTTP/1 that the server's library leaves to its users: `Host`, `Expect`, transfer codings, HTTP/1.0, `HEAD`, one request
/// after the other, and what a client is told whose request cannot be read. It sees requests before they are made independent of the
/// version.
final class HTTP1Rules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How long a client that was refused may go on sending before its connection is reset.
    private static let lingering = TimeAmount.seconds(5)

    /// A request that is not answered yet.
    private struct Open {
        let request: RequestHead
        /// Whether its answer has begun.
        var isAnswering = false
    }

    /// The request that was read and is not answered yet: the next one is read after it.
    private var open: Open?
    /// Whether the last request's body is still to end.
    private var isReading = false
    /// Whether the connection ends with the answer under way.
    private var isClosing = false
    /// Whether the connection ends with a refusal, which was written: no request is read any more and no answer goes out.
    private var isRefusing = false
    /// The reason that the next request is kept back.
    private let gate: RequestGate
    /// Whether the process is about to stop, so that clients are to come back over another connection.
    private let isStopping: @Sendable () -> Bool

    init(_ gate: RequestGate, isStopping: @escaping @Sendable () -> Bool = { false }) {
        self.gate = gate
        self.isStopping = isStopping
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefusing else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            let rules = RequestHead(head)
            if let fault = rules.fault { return refuse(fault, context) }
            open = Open(request: rules)
            isReading = true
            gate.began(bodyLength: rules.bodyLength)
            if rules.expectsContinue, rules.isBodyWelcome { sayContinue(context) }
            // The server's library knows this one word.
            if !rules.keepsAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body: context.fireChannelRead(data)
        case .end:
            isReading = false
            gate.ended()
            context.fireChannelRead(data)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        guard !isRefusing else { return }
        guard let open else { return refuse(RequestHead.Fault(error), context) }
        if open.isAnswering {
            // An answer that came before its request's end cannot be followed by another one.
            isClosing = true
            gate.end()
        } else {
            refuse(RequestHead.Fault(error), context)
        }
        // Whoever reads the body must not take it for complete.
        context.fireErrorCaught(error)
    }

    private func sayContinue(_ context: ChannelHandlerContext) {
        context.writeAndFlush(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
    }

    /// Answers what is not served, and ends the connection once the client had the time to read that.
    private func refuse(_ fault: RequestHead.Fault, _ context: ChannelHandlerContext) {
        isRefusing = true
        let body = fault.problem.text
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: fault.problem.status.code),
            headers: [
                "content-type": "application/problem+json", "content-length": "\(body.count)",
                "cache-control": "no-store", "connection": "close",
            ])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: .output, promise: nil)
        gate.end()
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Whoever answers a request that was refused meanwhile answers nobody.
        guard !isRefusing else { promise?.fail(ChannelError.outputClosed); return }
        guard let request = open?.request else { return context.write(data, promise: promise) }
        switch unwrapOutboundIn(data) {
        case .head(let head):
            if head.status.code >= 200 { open?.isAnswering = true }
            context.write(wrapOutboundOut(.head(framed(head, request))), promise: promise)
        case .body:
            request.isHead ? succeed(promise) : context.write(data, promise: promise)
        case .end:
            // After the head of an answer to HEAD comes nothing, not even the end of chunks.
            request.isHead
                ? context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: promise)
                : context.write(data, promise: promise)
            answered(request, context)
        }
    }

    private func succeed(_ promise: EventLoopPromise<Void>?) { promise?.succeed(()) }

    private func answered(_ request: RequestHead, _ context: ChannelHandlerContext) {
        open = nil
        if isClosing {
            context.flush()
            context.close(mode: .output, promise: nil)
        }
        isClosing || !request.keepsAlive ? gate.end() : gate.answered()
    }

    /// `head` as this client can read it, with what becomes of the connection.
    private func framed(_ head: HTTPResponseHead, _ request: RequestHead) -> HTTPResponseHead {
        var head = head
        // A body that the client was not asked to send may never come, and what does come next cannot be told from it.
        let isBodyLeft = isReading && request.expectsContinue && !request.isBodyWelcome
        let isEndless = request.isOld && !request.isHead && !head.headers.contains(name: "content-length")
        if request.isOld { head.version = .http1_0 }
        // Where the client asked for the end of the connection, the library ends it.
        isClosing = isClosing || isBodyLeft || isEndless || isStopping()
        if isClosing || !request.keepsAlive {
            head.headers.replaceOrAdd(name: "connection", value: "close")
        } else if request.isOld {
            head.headers.replaceOrAdd(name: "connection", value: "keep-alive")
        }
        return head
    }
}
