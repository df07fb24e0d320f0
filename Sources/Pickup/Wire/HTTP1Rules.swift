import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// The rules of HTTP/1 that the server's library leaves to its users: `Host`, `Expect`, HTTP/1.0, `HEAD`, and what a client is told
/// whose request cannot be read. It sees requests before they are made independent of the version.
final class HTTP1Rules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How long a client that was refused may go on sending before its connection is reset.
    private static let lingering = TimeAmount.seconds(5)

    /// The requests that were read and are not answered yet, in order.
    private var open = CircularBuffer<RequestHead>(initialCapacity: 1)
    /// Whether the last request's body is still to end.
    private var isReading = false
    /// Whether the client still waits for `100 Continue`.
    private var isContinueDue = false
    /// Whether the connection ends with the answer under way.
    private var isClosing = false
    /// Whether nothing more is read.
    private var isRefusing = false
    /// Whether the process is about to stop, so that clients are to come back over another connection.
    private let isStopping: @Sendable () -> Bool

    init(isStopping: @escaping @Sendable () -> Bool = { false }) { self.isStopping = isStopping }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefusing else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            let rules = RequestHead(head)
            if let fault = rules.fault { return refuse(fault, context) }
            open.append(rules)
            isReading = true
            isContinueDue = rules.expectsContinue && rules.isBodyWelcome
            if open.count == 1 { sayContinue(context) }
            // The server's library knows this one word.
            if !rules.keepsAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body:
            isContinueDue = false
            context.fireChannelRead(data)
        case .end:
            isReading = false
            isContinueDue = false
            context.fireChannelRead(data)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        guard !isRefusing else { return }
        // An answer that is under way cannot be followed by another one to nobody knows what.
        guard open.isEmpty else { return context.fireErrorCaught(error) }
        refuse(RequestHead.Fault(error), context)
    }

    private func sayContinue(_ context: ChannelHandlerContext) {
        guard isContinueDue else { return }
        isContinueDue = false
        context.writeAndFlush(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
    }

    /// Answers what is not served, and ends the connection once the client had the time to read that.
    private func refuse(_ fault: RequestHead.Fault, _ context: ChannelHandlerContext) {
        guard open.isEmpty else { return context.close(promise: nil) }
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
        // With bytes unread, a full close would take the answer along (RFC 9112, section 9.6).
        context.close(mode: .output, promise: nil)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let request = open.first else { return context.write(data, promise: promise) }
        switch unwrapOutboundIn(data) {
        case .head(let head):
            context.write(wrapOutboundOut(.head(framed(head, request))), promise: promise)
        case .body:
            request.isHead ? succeed(promise) : context.write(data, promise: promise)
        case .end:
            open.removeFirst()
            // After the head of an answer to HEAD comes nothing, not even the end of chunks.
            request.isHead
                ? context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: promise)
                : context.write(data, promise: promise)
            if isClosing {
                context.flush()
                context.close(mode: .output, promise: nil)
            } else {
                sayContinue(context)
            }
        }
    }

    private func succeed(_ promise: EventLoopPromise<Void>?) { promise?.succeed(()) }

    /// `head` as this client can read it, with what becomes of the connection.
    private func framed(_ head: HTTPResponseHead, _ request: RequestHead) -> HTTPResponseHead {
        var head = head
        // A body that the client was not asked to send may never come, and what does come next cannot be told from it.
        let isBodyLeft = isReading && open.count == 1 && request.expectsContinue && !request.isBodyWelcome
        let isEndless = request.isOld && !request.isHead && !head.headers.contains(name: "content-length")
        if request.isOld { head.version = .http1_0 }
        // Where the client asked for the end of the connection, the library ends it.
        isClosing = isBodyLeft || isEndless || isStopping()
        if isClosing || !request.keepsAlive {
            head.headers.replaceOrAdd(name: "connection", value: "close")
        } else if request.isOld {
            head.headers.replaceOrAdd(name: "connection", value: "keep-alive")
        }
        return head
    }
}

/// Puts `HTTP1Rules` in front of the server's own codec, behind which alone the library adds handlers, and leaves.
final class HTTP1RulesEntrance: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let isStopping: @Sendable () -> Bool

    init(isStopping: @escaping @Sendable () -> Bool) { self.isStopping = isStopping }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(HTTP1Rules(isStopping: isStopping), position: .before(codec))
            pipeline.removeHandler(context: context, promise: nil)
        } catch {
            // Without its rules no request may be served.
            context.close(promise: nil)
        }
    }
}
