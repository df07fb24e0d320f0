import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// Holds a connection's call until its answer comes: for whoever is behind it the call was answered, for the device it was not.
///
/// What comes meanwhile waits: the next request, so that answers keep their order, and whatever closes the connection.
final class HeldCallHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A device that sends more while it waits is no device, in parts of requests.
    private static let most = 64

    /// A call that is held.
    private struct Held {
        let call: HeldCall
        var date: String?
        /// Parts of further requests.
        var parts: [NIOAny] = []
        /// How the connection is closed after the answer.
        var closings: [(mode: CloseMode, promise: EventLoopPromise<Void>?)] = []
    }

    private let calls: HeldCalls
    private var held: Held?
    private var context: ChannelHandlerContext?

    init(_ calls: HeldCalls) { self.calls = calls }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        held = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        let closings = held?.closings ?? []
        held = nil
        for closing in closings { closing.promise?.fail(ChannelError.alreadyClosed) }
        context.fireChannelInactive()
    }

    // MARK: What the framework writes

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if held != nil {
            // The rest of the mark.
            if case .end = unwrapOutboundIn(data) { connect(context) }
            promise?.succeed()
        } else if case .head(let head) = unwrapOutboundIn(data), let call = calls.take(head) {
            held = Held(call: call, date: head.headerFields[.date])
            promise?.succeed()
        } else {
            context.write(data, promise: promise)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if held != nil {
            held?.closings.append((mode, promise))
        } else {
            context.close(mode: mode, promise: promise)
        }
    }

    private func connect(_ context: ChannelHandlerContext) {
        guard let call = held?.call else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let loop = context.eventLoop
        call.connect { response in
            // For a moment: what is written is read out of the answer.
            Task {
                let body = await HeldBody.read(response.body)
                loop.execute { handler.value.answer(response.head, body, call) }
            }
        }
    }

    private func answer(_ head: HTTPResponse, _ body: ByteBuffer, _ call: HeldCall) {
        guard let context, let held, held.call === call else { return }
        self.held = nil
        var head = head
        head.headerFields[.date] = held.date
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if body.readableBytes > 0 { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        for part in held.parts { context.fireChannelRead(part) }
        if !held.parts.isEmpty { context.fireChannelReadComplete() }
        for closing in held.closings { context.close(mode: closing.mode, promise: closing.promise) }
    }

    // MARK: What the device sends

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard held != nil else { return context.fireChannelRead(data) }
        held?.parts.append(data)
        if held.map({ $0.parts.count > Self.most }) == true { context.close(promise: nil) }
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
