import Access
package import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Closes connections that waste resources: a request's head or body does not arrive in time, the client sends more
/// than a report can have or does not read its answers, or too many connections are open. While it waits for its client,
/// a connection gives way to another one that finds no place.
///
/// A timer of idleness only sees that bytes arrive. A client that sends one now and then would hold a connection for
/// ever.
package final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart

    /// The event that the client closed its side, although bytes that it sent before still wait for their turn.
    package struct InputEnded: Sendable {
        package init() {}
    }

    package enum Kind: Sendable {
        case health
        case call
        case other
    }

    /// The time limits of a connection, and the limit of a body.
    package struct Limits: Sendable {
        /// The time from the connection, or from the last answer, to a request's whole head.
        var head = TimeAmount.seconds(90)
        /// The time from the connection to the first request's whole head.
        var firstHead = TimeAmount.seconds(30)
        var body = TimeAmount.seconds(30)
        /// The time for which a client may read nothing while more waits for it than a connection holds.
        var unread = TimeAmount.seconds(30)
        /// The longest body that is read, in bytes; a part of it may be discarded.
        var bytes = 1 << 20

        package init() {}
    }

    private let limits: Limits
    private let connections: OpenConnections?
    private let kind: @Sendable (HTTPRequest) -> Kind
    private var place: Place?
    /// Whether the connection is one above the limit.
    private var isForHealth = false
    private var isKnown = false
    /// Whether the client closed its side: until something is sent to it, it cannot be distinguished from one that left.
    private var hasLeft = false
    /// Whether the request that was read last may be a known caller's.
    private var isCall = false
    private let dropped: @Sendable (Reason) -> Void
    private var deadline: Scheduled<Void>?
    private var readingDeadline: Scheduled<Void>?
    private var bytes = 0
    /// Whether a request's body, and whether its answer, is incomplete.
    private var (isReading, isAnswering) = (false, false)

    package enum Reason: String, Sendable {
        case headTimeout = "head_timeout"
        case bodyTimeout = "body_timeout"
        case bodyTooLarge = "body_too_large"
        case unread = "unread_answers"
        case tooManyRequests = "too_many_pipelined_requests"
        case tooMany = "too_many"
        case tooManyOfAddress = "too_many_of_address"
        case gaveWay = "gave_way"
        case proxyHeader = "proxy_header"
    }

    /// - Parameters:
    ///   - connections: limits the open connections; nil for no limit.
    ///   - kind: returns the kind of a request.
    ///   - dropped: called with the reason of each closed connection.
    package init(
        _ limits: Limits = Limits(), among connections: OpenConnections? = nil,
        kind: @escaping @Sendable (HTTPRequest) -> Kind = { _ in .other },
        dropped: @escaping @Sendable (Reason) -> Void
    ) {
        self.limits = limits
        self.connections = connections
        self.kind = kind
        self.dropped = dropped
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        expect(.headTimeout, within: limits.firstHead, context)
    }

    package func handlerRemoved(context: ChannelHandlerContext) { cancelDeadlines() }

    private func cancelDeadlines() {
        deadline?.cancel()
        readingDeadline?.cancel()
    }

    package func channelActive(context: ChannelHandlerContext) {
        if let connections {
            switch connections.take(context.channel) {
            case .taken(let place, let isForHealth): (self.place, self.isForHealth) = (place, isForHealth)
            case .refused(let reason): return drop(reason, context)
            }
            isKnown = connections.isTrusted(context.channel)
            waitForClient(context)
        }
        context.fireChannelActive()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        cancelDeadlines()
        place = nil
        context.fireChannelInactive()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed || event is InputEnded {
            hasLeft = true
            waitForClient(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        readingDeadline?.cancel()
        if !context.channel.isWritable {
            readingDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: limits.unread) {
                self.drop(.unread, context)
            }
        }
        context.fireChannelWritabilityChanged()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            let kind = kind(head)
            if isForHealth, kind != .health { return drop(.tooMany, context) }
            isCall = head.method != .options && kind == .call
            (bytes, isReading, isAnswering) = (0, true, true)
            expect(.bodyTimeout, within: limits.body, context)
        case .body(let buffer):
            bytes += buffer.readableBytes
            guard bytes <= limits.bytes else { return drop(.bodyTooLarge, context) }
        case .end:
            isReading = false
            deadline?.cancel()
            if !hasLeft { place?.keep() }
            expectHead(context)
        }
        context.fireChannelRead(data)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            // A call that was served has passed every check of its caller.
            if isCall, (200..<400).contains(head.status.code) { isKnown = true }
        case .body: break
        case .end:
            isAnswering = false
            expectHead(context)
        }
        context.write(data, promise: promise)
    }

    /// Starts to wait for the next head once the request and its answer are complete. An answer may come before the
    /// body's end, whose own time limit then stays.
    private func expectHead(_ context: ChannelHandlerContext) {
        guard !isReading, !isAnswering else { return }
        expect(.headTimeout, within: limits.head, context)
        waitForClient(context)
    }

    /// Notes that the connection gives way to another one until a whole request has arrived.
    private func waitForClient(_ context: ChannelHandlerContext) {
        place?.giveWay(isKnown: isKnown && !hasLeft) { [channel = context.channel, dropped] in
            dropped(.gaveWay)
            channel.close(promise: nil)
        }
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
