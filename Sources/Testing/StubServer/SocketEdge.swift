import AdapterKit
import Glibc
import NIOCore

/// The handler next to the socket, on the far side of TLS. It counts the sent bytes, and can break the connection
/// without TLS's closing message.
final class SocketEdge: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let state: StubState
    private var context: ChannelHandlerContext?

    init(_ state: StubState) { self.state = state }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        guard state.opened(StubState.Connection(channel: context.channel, edge: bound)) else {
            context.close(promise: nil)
            return
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        state.closed(context.channel)
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        state.sent(Self.unwrapOutboundIn(data).readableBytes)
        context.write(data, promise: promise)
    }

    /// Ends the connection; with a reset where the socket can. Only on the channel's event loop.
    func sever(withReset isReset: Bool) {
        guard let context else { return }
        if isReset, let options = context.channel as? any SocketOptionProvider {
            // No lingering at all: what closes the socket sends a RST (socket(7), SO_LINGER).
            options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in
                self.context?.close(promise: nil)
            }
        } else {
            context.close(promise: nil)
        }
    }
}
