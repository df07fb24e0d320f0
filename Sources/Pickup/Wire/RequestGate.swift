import NIOCore

/// Keeps the bytes of a connection before its decoder until the turn of their request has come.
///
/// Nothing is read of a client that does not read its answers, and no more of any other than its next request. What the system
/// received besides, all of it once the client has closed its side, is bounded.
final class RequestGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The most bytes that may wait on a connection: the longest report, and whatever comes with it.
    static let limit = 80 << 10

    private var turns = RequestTurns()
    private var context: ChannelHandlerContext?
    /// Whether somebody wants to read, once what waits was decoded.
    private var isReadDue = false
    /// Whether the client closed its side, which is told after what it sent before.
    private var isCloseDue = false
    /// Whether bytes are on their way to the decoder, which may answer in between.
    private var isPassing = false
    /// Told that too much waits.
    private let overflowed: @Sendable () -> Void

    init(overflowed: @escaping @Sendable () -> Void) { self.overflowed = overflowed }

    /// The number of bytes that wait.
    var count: Int { turns.count }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        turns.isWritable = context.channel.isWritable
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: Bytes

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        turns.receive(unwrapInboundIn(data))
        pass(context)
        guard turns.count > Self.limit else { return }
        overflowed()
        end()
        context.close(promise: nil)
    }

    func read(context: ChannelHandlerContext) {
        if turns.wantsBytes { context.read() } else { isReadDue = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        turns.isWritable = context.channel.isWritable
        context.fireChannelWritabilityChanged()
        proceed()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed, turns.count > 0 {
            isCloseDue = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func pass(_ context: ChannelHandlerContext) {
        guard !isPassing else { return }
        isPassing = true
        while let bytes = turns.next() { context.fireChannelRead(wrapInboundOut(bytes)) }
        isPassing = false
    }

    /// Goes on with what waits.
    private func proceed() {
        guard let context, !isPassing else { return }
        if turns.count > 0 {
            pass(context)
            context.fireChannelReadComplete()
        }
        if isCloseDue, turns.count == 0 {
            isCloseDue = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        guard isReadDue, turns.wantsBytes else { return }
        isReadDue = false
        context.read()
    }

    // MARK: Requests

    /// A head was decoded, of a request whose body has `length` bytes; nil for a chunked one.
    func began(bodyLength length: Int?) { turns.began(bodyLength: length) }

    /// The end of a request was decoded.
    func ended() { turns.ended() }

    /// The answer to the request was written.
    func answered() {
        turns.answered()
        proceed()
    }

    /// No request is read any more, and what still comes is dropped: with bytes unread, a full close would take the last answer along
    /// (RFC 9112, section 9.6).
    func end() {
        turns.end()
        proceed()
    }
}
