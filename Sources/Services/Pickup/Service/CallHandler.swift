import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Passes a connection's calls to the responder, one after the other, and writes their answers.
///
/// A call has a task until the responder returns, which it does before the call begins to wait. Then only the closure
/// that takes the answer waits: neither a connection nor a waiting call has a task.
final class CallHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    /// Takes the answer to a call, once, on any thread.
    typealias Reply = @Sendable (Answer) -> Void
    /// Answers a request, at once or later.
    typealias Respond = @Sendable (Request, ArrivingBody, any Channel, @escaping Reply) async -> Void

    private let respond: Respond
    private let served: ServedConnections
    private let date: AnswerDate
    private var turn = CallTurn()
    private var body: ArrivingBody?
    private var context: ChannelHandlerContext?

    /// - Parameters:
    ///   - served: the connections of the server.
    ///   - date: the date of every answer.
    init(among served: ServedConnections, date: AnswerDate, _ respond: @escaping Respond) {
        self.served = served
        self.date = date
        self.respond = respond
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        served.add(context.channel)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        endBody(ChannelError.alreadyClosed)
        self.context = nil
        served.remove(context.channel)
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head, context)
        case .body(let bytes): body?.receive(bytes)
        case .end:
            body?.end()
            body = nil
        }
    }

    private func begin(_ head: HTTPRequest, _ context: ChannelHandlerContext) {
        let fields = head.headerFields
        let number = turn.begin(isLast: fields[.connection] == "close")
        let hasBody = fields.contains(.contentLength) || fields.contains(.transferEncoding)
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let isExpecting = fields.contains(.expect)
        let wanted: @Sendable () -> Void = {
            if isExpecting { handler.eventLoop.execute { handler.value.wantBody(of: number) } }
        }
        let arriving = hasBody ? ArrivingBody(wanted: wanted) : ArrivingBody.none
        body = hasBody ? arriving : nil
        let reply: Reply = { answer in handler.eventLoop.execute { handler.value.write(answer, to: number) } }
        let (respond, channel) = (respond, context.channel)
        // A task, because the body is still arriving.
        Task { await respond(Request(head: head, body: RequestBody(buffer: ByteBuffer())), arriving, channel, reply) }
    }

    private func wantBody(of number: Int) {
        guard let context, turn.current == number else { return }
        context.triggerUserOutboundEvent(HTTP1Rules.BodyWanted(), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { return perform(turn.inputClosed(), context) }
        if event is ChannelShouldQuiesceEvent { return perform(turn.stop(), context) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        endBody(ChannelError.alreadyClosed)
        self.context = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        endBody(error)
        // Bytes that are no HTTP were answered; the connection ends after the client has read that.
        if !(error is HTTPParserError) { context.close(promise: nil) }
    }

    private func endBody(_ error: any Error) {
        body?.fail(error)
        body = nil
    }

    // MARK: Answers

    /// Writes the answer to the call `number`, unless the client is gone.
    private func write(_ answer: Answer, to number: Int) {
        guard let context, turn.current == number else { return }
        var head = HTTPResponse(status: answer.status, headerFields: answer.headers)
        head.headerFields[.date] = date.text
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        switch answer.body {
        case .bytes(let bytes):
            if bytes.readableBytes > 0 { context.write(wrapOutboundOut(.body(bytes)), promise: nil) }
            end(context)
        case .stream(let stream):
            context.flush()
            follow(stream, number, context)
        }
    }

    private func follow(
        _ stream: @escaping @Sendable (AnswerWriter) async throws -> Void, _ number: Int,
        _ context: ChannelHandlerContext
    ) {
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let channel = context.channel
        // The task ends with the stream, which ends when the client leaves.
        Task {
            do { try await stream(AnswerWriter(channel: channel)) } catch { return channel.close(promise: nil) }
            handler.eventLoop.execute { handler.value.endStream(number) }
        }
    }

    private func endStream(_ number: Int) {
        guard let context, turn.current == number else { return }
        end(context)
    }

    private func end(_ context: ChannelHandlerContext) {
        // The next request may arrive while the end is written.
        let action = turn.answered()
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        perform(action, context)
    }

    private func perform(_ action: CallTurn.Action, _ context: ChannelHandlerContext) {
        switch action {
        case .stay: break
        case .closeOutput: context.close(mode: .output, promise: nil)
        case .close: context.close(promise: nil)
        }
    }
}

/// The unanswered call of a connection, and the action on the connection after its answer. A value.
///
/// A connection has one call at a time: `RequestGate` keeps back the next one.
private struct CallTurn: Sendable {
    enum Action: Sendable, Equatable {
        case stay
        /// Nothing more is written; the client ends the connection.
        case closeOutput
        case close
    }

    /// The number of the unanswered call; nil where every call is answered.
    private(set) var current: Int?
    private var last = 0
    private var isLast = false
    private var isStopping = false

    /// Begins a call.
    ///
    /// - Parameter isLast: whether the client sends no further call.
    /// - Returns: the call's number on its connection.
    mutating func begin(isLast: Bool) -> Int {
        last += 1
        current = last
        self.isLast = self.isLast || isLast
        return last
    }

    /// Ends the call, whose answer is complete.
    mutating func answered() -> Action {
        current = nil
        return isStopping ? .close : isLast ? .closeOutput : .stay
    }

    /// Records that the client closed its side: it still gets the answer to its last call.
    mutating func inputClosed() -> Action {
        isLast = true
        return current == nil ? .closeOutput : .stay
    }

    mutating func stop() -> Action {
        isStopping = true
        return current == nil ? .close : .stay
    }
}
