import Access
import NIOCore
import NIOHTTPTypes

/// Closes connections that only take: those whose request's head or body does not come in time, those that send more than a report can
/// have, those that do not read their answers, and those beyond what may be open at once.
///
/// What a timer of idleness sees is that bytes come. Somebody who sends one now and then would hold a connection for ever.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    /// How long what is awaited may take.
    struct Limits: Sendable {
        /// From the connection, or the last answer, to a request's whole head.
        var head = TimeAmount.seconds(90)
        /// From the connection to the first request's whole head.
        var firstHead = TimeAmount.seconds(30)
        /// From a head to the end of its body.
        var body = TimeAmount.seconds(30)
        /// For how long a client may read nothing while more waits for it than a connection holds.
        var unread = TimeAmount.seconds(30)
        /// The bytes of a body that are read, some of them only to be passed over.
        var bytes = 1 << 20
    }

    private let limits: Limits
    private let connections: OpenConnections?
    private var place: OpenPlace?
    private let dropped: @Sendable (Reason) -> Void
    private var deadline: Scheduled<Void>?
    private var readingDeadline: Scheduled<Void>?
    private var bytes = 0
    /// Whether a request's body is still to end, and whether its answer is.
    private var (isReading, isAnswering) = (false, false)

    /// Why a connection was let go of.
    enum Reason: String {
        case headTimeout = "head_timeout"
        case bodyTimeout = "body_timeout"
        case bodyTooLarge = "body_too_large"
        case unread = "unread_answers"
        case tooManyRequests = "too_many_pipelined_requests"
        case tooMany = "too_many"
        case proxyHeader = "proxy_header"
    }

    /// - Parameters:
    ///   - connections: bounds how many are open; nil does not.
    ///   - dropped: told why a connection is closed.
    init(
        _ limits: Limits = Limits(), among connections: OpenConnections? = nil,
        dropped: @escaping @Sendable (Reason) -> Void
    ) {
        self.limits = limits
        self.connections = connections
        self.dropped = dropped
    }

    func handlerAdded(context: ChannelHandlerContext) { expect(.headTimeout, within: limits.firstHead, context) }

    func handlerRemoved(context: ChannelHandlerContext) { cancelDeadlines() }

    private func cancelDeadlines() {
        deadline?.cancel()
        readingDeadline?.cancel()
    }

    func channelActive(context: ChannelHandlerContext) {
        if let connections {
            place = connections.take(context.channel)
            if place == nil { return drop(.tooMany, context) }
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancelDeadlines()
        place = nil
        context.fireChannelInactive()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        readingDeadline?.cancel()
        if !context.channel.isWritable {
            readingDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: limits.unread) {
                self.drop(.unread, context)
            }
        }
        context.fireChannelWritabilityChanged()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            (bytes, isReading, isAnswering) = (0, true, true)
            expect(.bodyTimeout, within: limits.body, context)
        case .body(let buffer):
            bytes += buffer.readableBytes
            guard bytes <= limits.bytes else { return drop(.bodyTooLarge, context) }
        case .end:
            isReading = false
            deadline?.cancel()
            expectHead(context)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            isAnswering = false
            expectHead(context)
        }
        context.write(data, promise: promise)
    }

    /// Awaits the next head, once the request and its answer have ended. An answer may come before the body's end, whose own time
    /// goes on then.
    private func expectHead(_ context: ChannelHandlerContext) {
        if !isReading, !isAnswering { expect(.headTimeout, within: limits.head, context) }
    }

    private func expect(_ missing: Reason, within time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { self.drop(missing, context) }
    }

    private func drop(_ reason: Reason, _ context: ChannelHandlerContext) {
        cancelDeadlines()
        guard context.channel.isActive else { return }
        dropped(reason)
        context.close(promise: nil)
    }
}
