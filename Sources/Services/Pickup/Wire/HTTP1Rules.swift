import HTTPTypes
import NIOCore
import NIOHTTP1

/// The rules of HTTP/1 that the server's library leaves to its users: `Host`, `Expect`, transfer codings, HTTP/1.0,
/// `HEAD`, one request after the other, and the answer to a request that cannot be read. It sees requests before they
/// are made independent of the version.
final class HTTP1Rules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The time for which a refused client may go on sending before its connection is reset.
    private static let lingering = TimeAmount.seconds(5)

    /// The event that the body of the request is wanted, which was decided by its head.
    struct BodyWanted: Sendable {}

    private struct Open {
        let request: RequestHead
        /// Whether the client was asked to send the body.
        var isContinuing = false
        var isAnswering = false
    }

    /// The request that was read and is not answered yet; the next one is read after it.
    private var open: Open?
    /// Whether the last request's body is incomplete.
    private var isReading = false
    /// Whether the connection ends with the answer under way.
    private var isClosing = false
    /// Whether a refusal was written that ends the connection: no request is read any more, and no answer is sent.
    private var isRefusing = false
    private let gate: RequestGate
    /// Returns whether the process is about to stop, so that clients must use another connection.
    private let isStopping: @Sendable () -> Bool
    private let date: @Sendable () -> String
    /// Called with the status of each request that is not served.
    private let refused: @Sendable (Int) -> Void

    init(
        _ gate: RequestGate, isStopping: @escaping @Sendable () -> Bool = { false },
        date: @escaping @Sendable () -> String, refused: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.gate = gate
        self.isStopping = isStopping
        self.date = date
        self.refused = refused
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefusing else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            RequestHead.trim(&head)
            let rules = RequestHead(head)
            if let fault = rules.fault { return refuse(fault, context) }
            open = Open(request: rules)
            isReading = true
            gate.began(bodyLength: rules.bodyLength)
            // The server's library knows only this word.
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
        let fault = RequestHead.Fault(error, in: gate.lines)
        guard let open else { return refuse(fault, context) }
        if open.isAnswering {
            // An answer that came before its request's end cannot be followed by another one.
            isClosing = true
            gate.end()
        } else {
            refuse(fault, context)
        }
        // Readers of the body must not take it for complete.
        context.fireErrorCaught(error)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is BodyWanted else { return context.triggerUserOutboundEvent(event, promise: promise) }
        promise?.succeed(())
        guard let open, open.request.expectsContinue, open.request.isBodyWelcome, !open.isContinuing,
            !open.isAnswering, isReading, !isRefusing
        else { return }
        self.open?.isContinuing = true
        sayContinue(context)
    }

    private func sayContinue(_ context: ChannelHandlerContext) {
        context.writeAndFlush(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
    }

    /// Answers a request that is not served, and ends the connection after the client had time to read the answer.
    private func refuse(_ fault: RequestHead.Fault, _ context: ChannelHandlerContext) {
        isRefusing = true
        // The rest of a head that never comes ends with its connection: nobody is answered.
        guard context.channel.isActive else { return }
        refused(fault.problem.status.code)
        let body = fault.problem.text
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: fault.problem.status.code),
            headers: [
                "content-type": "application/problem+json", "content-length": "\(body.count)",
                "cache-control": "no-store", "connection": "close", "date": date(),
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
        // The answer to a request that was refused meanwhile has no receiver.
        guard !isRefusing else { promise?.fail(ChannelError.outputClosed); return }
        guard let request = open?.request else { return context.write(data, promise: promise) }
        switch unwrapOutboundIn(data) {
        case .head(let head):
            if head.status.code >= 200 { open?.isAnswering = true }
            context.write(wrapOutboundOut(.head(framed(head, request))), promise: promise)
        case .body:
            request.isHead ? succeed(promise) : context.write(data, promise: promise)
        case .end:
            // After the head of an answer to HEAD nothing follows, not even the end of chunks.
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

    /// Returns `head` as this client can read it, with the header that ends or keeps the connection.
    private func framed(_ head: HTTPResponseHead, _ request: RequestHead) -> HTTPResponseHead {
        var head = head
        // The client may never send a body that it was not asked for, and the bytes that follow cannot be distinguished
        // from it.
        let isBodyLeft = isReading && request.expectsContinue && open?.isContinuing != true
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
