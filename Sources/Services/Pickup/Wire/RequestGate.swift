import NIOCore
import Serving

/// Keeps the bytes of a connection before its decoder until their request's turn has come.
///
/// Nothing is read from a client that does not read its answers, and from any other no more than its next request. The
/// bytes that the system received besides are bounded, including those of a client that has closed its side.
final class RequestGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The maximum number of bytes that may wait on a connection: the longest report, with its head and further bytes.
    static let limit = 80 << 10

    private var turns = RequestTurns()
    private var context: ChannelHandlerContext?
    /// Whether a read was requested, to be done once the waiting bytes were decoded.
    private var isReadDue = false
    /// Whether the client closed its side; the event is passed on after the bytes that the client sent before.
    private var isCloseDue = false
    /// Whether bytes are on their way to the decoder, which may answer in between.
    private var isPassing = false
    /// Called when too many bytes wait.
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
            context.fireUserInboundEventTriggered(ConnectionGuard.InputEnded())
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

    /// Continues with the waiting bytes.
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

    /// The lines of the request, as far as they were taken.
    var lines: RequestLines { turns.lines }

    /// Notes that a head was decoded, of a request whose body has `length` bytes; nil for a chunked one.
    func began(bodyLength length: Int?) { turns.began(bodyLength: length) }

    /// Notes that the end of a request was decoded.
    func ended() { turns.ended() }

    /// Notes that the answer to the request was written.
    func answered() {
        turns.answered()
        proceed()
    }

    /// Stops reading requests, and drops further bytes: with bytes unread, a full close would discard the last answer
    /// (RFC 9112, section 9.6).
    func end() {
        turns.end()
        proceed()
    }
}
