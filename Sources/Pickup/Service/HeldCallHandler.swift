import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// Holds a connection's call until its answer comes. For the responder the call was answered, for the device it was
/// not.
///
/// The next request is not read before that (`RequestGate`), and whatever closes the connection waits for it.
final class HeldCallHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A held call.
    private struct Held {
        let call: HeldCall
        var date: String?
        /// The closings of the connection that wait for the answer.
        var closings: [(mode: CloseMode, promise: EventLoopPromise<Void>?)] = []
    }

    private let calls: HeldCalls
    private var held: Held?
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

    /// Drops the held call: the device is gone.
    private func letGo() {
        let closings = held?.closings ?? []
        held = nil
        for closing in closings { closing.promise?.fail(ChannelError.alreadyClosed) }
    }

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
            // This task is short: it only reads the answer's body.
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
    }
}

/// The body of an answer, whole.
private struct HeldBody: ResponseBodyWriter {
    /// The bytes that were written: the writer itself is handed away.
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
