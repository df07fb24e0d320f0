import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// Holds a connection's call until its answer comes: for whoever is behind it the call was answered, for the device it was not.
///
/// One request at a time goes on to whoever is behind: the next one, and whatever closes the connection, waits until the one before was
/// answered. Who sends requests without waiting for answers gets them in order, and none of them is another request's.
final class HeldCallHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A call that is held.
    private struct Held {
        let call: HeldCall
        var date: String?
        /// How the connection is closed after the answer.
        var closings: [(mode: CloseMode, promise: EventLoopPromise<Void>?)] = []
    }

    private let calls: HeldCalls
    private var held: Held?
    /// Whether a request went on that is not answered yet.
    private var isAnswering = false
    /// Parts of the requests behind it.
    private var waiting: [HTTPRequestPart] = []
    /// Whether somebody wants to read, and waits for those parts to go on first.
    private var isReadDue = false
    private var context: ChannelHandlerContext?

    init(_ calls: HeldCalls) { self.calls = calls }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        letGo()
    }

    func channelInactive(context: ChannelHandlerContext) {
        letGo()
        context.fireChannelInactive()
    }

    /// The device is gone: there is nobody to answer.
    private func letGo() {
        let closings = held?.closings ?? []
        held = nil
        waiting = []
        for closing in closings { closing.promise?.fail(ChannelError.alreadyClosed) }
    }

    // MARK: What the framework writes

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        if held != nil {
            // The rest of the mark.
            if case .end = part { connect(context) }
            promise?.succeed()
        } else if case .head(let head) = part, let call = calls.take(head), context.channel.isActive {
            held = Held(call: call, date: head.headerFields[.date])
            promise?.succeed()
        } else {
            context.write(data, promise: promise)
            if case .end = part { answered(context) }
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if held != nil, context.channel.isActive {
            held?.closings.append((mode, promise))
        } else {
            context.close(mode: mode, promise: promise)
        }
    }

    private func connect(_ context: ChannelHandlerContext) {
        guard let call = held?.call else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let number = call.number
        call.connect { response in
            // For a moment: what is written is read out of the answer.
            Task {
                let body = await HeldBody.read(response.body)
                loop.execute { handler.value.answer(response.head, body, number) }
            }
        }
    }

    private func answer(_ head: HTTPResponse, _ body: ByteBuffer, _ number: Int) {
        guard let context, let held, held.call.number == number else { return }
        self.held = nil
        var head = head
        head.headerFields[.date] = held.date
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if body.readableBytes > 0 { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        for closing in held.closings { context.close(mode: closing.mode, promise: closing.promise) }
        answered(context)
    }

    // MARK: What the device sends

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if waiting.isEmpty, !(isAnswering && part.isHead) {
            pass(part, context)
        } else {
            waiting.append(part)
        }
    }

    func read(context: ChannelHandlerContext) {
        // What a device sends meanwhile stays with the device.
        if waiting.isEmpty { context.read() } else { isReadDue = true }
    }

    private func pass(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        if part.isHead { isAnswering = true }
        context.fireChannelRead(wrapInboundOut(part))
    }

    /// The request that went on was answered: the next one goes on.
    private func answered(_ context: ChannelHandlerContext) {
        isAnswering = false
        guard !waiting.isEmpty else { return }
        let parts = waiting
        waiting = []
        for (index, part) in parts.enumerated() {
            if isAnswering, part.isHead {
                waiting = Array(parts[index...])
                break
            }
            pass(part, context)
        }
        context.fireChannelReadComplete()
        guard waiting.isEmpty, isReadDue else { return }
        isReadDue = false
        context.read()
    }
}

extension HTTPRequestPart {
    fileprivate var isHead: Bool {
        if case .head = self { true } else { false }
    }
}

/// The body of an answer, whole.
private struct HeldBody: ResponseBodyWriter {
    /// Where the bytes go: the writer itself is handed away.
    private final class Bytes {
        var buffer = ByteBuffer()
    }

    private let bytes: Bytes

    @concurrent
    static func read(_ body: ResponseBody) async -> ByteBuffer {
        let bytes = Bytes()
        do { try await body.write(HeldBody(bytes: bytes)) } catch { return ByteBuffer() }
        return bytes.buffer
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        var buffer = buffer
        bytes.buffer.writeBuffer(&buffer)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
