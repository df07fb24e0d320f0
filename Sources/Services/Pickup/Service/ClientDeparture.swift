import NIOCore
import NIOHTTPTypes
import Serving

/// Notifies a stream that its client is gone. A client that closes its side counts as gone: until something is sent to
/// it, the system cannot distinguish it from one that left.
final class ClientDeparture: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private var hasLeft = false
    /// Called once: a connection has one stream at a time.
    private var told: (@Sendable () -> Void)?

    /// Runs `body` when the client of `channel` has left, at once where it already has. The connection's next stream
    /// replaces `body`.
    static func tell(_ channel: any Channel, _ body: @escaping @Sendable () -> Void) {
        channel.eventLoop.execute {
            // A connection that is closed has no handlers.
            guard let handler = try? channel.pipeline.syncOperations.handler(type: Self.self) else { return body() }
            handler.tell(body)
        }
    }

    private func tell(_ body: @escaping @Sendable () -> Void) {
        if hasLeft { body() } else { told = body }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed || event is ConnectionGuard.InputEnded { left() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        left()
        context.fireChannelInactive()
    }

    private func left() {
        hasLeft = true
        told?()
        told = nil
    }
}
