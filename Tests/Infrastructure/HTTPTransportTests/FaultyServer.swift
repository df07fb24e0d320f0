import CertificateTestSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

typealias TestCertificates = CertificateTestSupport.Certificates

/// A fault of a server, from the connection to the last byte of the body.
enum Fault: Sendable, Equatable {
    /// A redirect, 302, to this URL.
    case redirect(to: String)
    /// The head, and nothing more.
    case stall
    /// The head, and one byte of the body again and again.
    case drip(every: TimeAmount)
    /// The head, and a body of the given number of bytes, in chunks or with its length first.
    case flood(bytes: Int, declared: Bool)
    /// TLS 1.1 and nothing later.
    case oldTLS
    /// Half of the body, and the connection's end.
    case half
    /// A body with a content coding nobody asked for.
    case encoded
    /// A good answer, and the connection's end at once.
    case goodbye
}

/// A server at `https://localhost`, which answers well but for the fault it has at the moment.
final class FaultyServer: Sendable {
    private struct State {
        var fault: Fault?
        var targets: [String] = []
        var connections = 0
        var open: [ObjectIdentifier: any Channel] = [:]
        var written = 0
    }

    let url: String
    let host: String
    private let listener: any Channel
    private let state: Mutex<State>

    /// - Parameter body: the body of good answers.
    static func start(
        _ certificates: TestCertificates, fault: Fault?, body: String
    ) async throws -> FaultyServer {
        let modern = try context(certificates, .tlsv12, nil)
        let old = try context(certificates, .tlsv1, .tlsv11)
        let box = Box()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let server = box.server else { return }
                    server.opened(channel)
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: server.fault == .oldTLS ? old : modern))
                    try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
                    try pipeline.addHandler(FaultyConversation(server, body))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = FaultyServer(listener, fault)
        box.set(server)
        return server
    }

    private final class Box: Sendable {
        private let value = Mutex<FaultyServer?>(nil)

        var server: FaultyServer? { value.withLock { $0 } }
        func set(_ server: FaultyServer) { value.withLock { $0 = server } }
    }

    private init(_ listener: any Channel, _ fault: Fault?) {
        self.listener = listener
        host = "localhost:\(listener.localAddress?.port ?? 0)"
        url = "https://\(host)"
        state = Mutex(State(fault: fault))
    }

    private static func context(
        _ certificates: TestCertificates, _ least: TLSVersion, _ most: TLSVersion?
    ) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMFile(certificates.path("localhost.pem"))
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: certificates.path("localhost.key"), format: .pem)))
        tls.minimumTLSVersion = least
        tls.maximumTLSVersion = most
        return try NIOSSLContext(configuration: tls)
    }

    /// The fault of the moment; nil for none.
    var fault: Fault? {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }

    /// The requests that came, and the connections.
    var targets: [String] { state.withLock { $0.targets } }
    var requests: Int { targets.count }
    var connections: Int { state.withLock { $0.connections } }
    var open: Int { state.withLock { $0.open.count } }
    /// The bytes of body that the sockets took.
    var written: Int { state.withLock { $0.written } }

    func stop() async {
        try? await listener.close()
        for channel in state.withLock({ Array($0.open.values) }) { try? await channel.close() }
    }

    fileprivate func asked(_ target: String) { state.withLock { $0.targets.append(target) } }
    fileprivate func wrote(_ bytes: Int) { state.withLock { $0.written += bytes } }

    private func opened(_ channel: any Channel) {
        state.withLock { state in
            state.connections += 1
            state.open[ObjectIdentifier(channel)] = channel
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { $0.open[ObjectIdentifier(channel)] = nil }
        }
    }
}

/// One connection's requests, one after the other.
private final class FaultyConversation: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    private let server: FaultyServer
    private let body: String
    private var target = ""

    init(_ server: FaultyServer, _ body: String) {
        self.server = server
        self.body = body
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): target = head.uri
        case .body: break
        case .end:
            server.asked(target)
            react(context)
        }
    }

    private func react(_ context: ChannelHandlerContext) {
        switch server.fault {
        case nil, .oldTLS: send(head(200, ["content-length: \(body.utf8.count)"]) + body, context)
        case .redirect(let url): send(head(302, ["location: \(url)", "content-length: 0"]), context)
        case .stall: send(head(200, ["content-length: 20"]), context)
        case .drip(let interval):
            send(head(200, ["transfer-encoding: chunked"]), context)
            drip(context, every: interval)
        case .flood(let bytes, let declared):
            send(head(200, [declared ? "content-length: \(bytes)" : "transfer-encoding: chunked"]), context)
            flood(context, bytes, inChunks: !declared)
        case .half:
            let half = body.prefix(body.count / 2)
            context.writeAndFlush(
                wrapOutboundOut(ByteBuffer(string: head(200, ["content-length: \(body.utf8.count)"]) + half)),
                promise: nil)
            context.close(promise: nil)
        case .goodbye:
            send(head(200, ["content-length: \(body.utf8.count)"]) + body, context)
            context.close(promise: nil)
        case .encoded:
            send(head(200, ["content-encoding: gzip", "content-length: \(body.utf8.count)"]) + body, context)
        }
    }

    private func head(_ status: Int, _ headers: [String]) -> String {
        (["HTTP/1.1 \(status) X", "content-type: application/json"] + headers + ["", ""]).joined(separator: "\r\n")
    }

    private func send(_ text: String, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }

    private func drip(_ context: ChannelHandlerContext, every interval: TimeAmount) {
        guard context.channel.isActive else { return }
        send("1\r\n \r\n", context)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: interval) {
            let (handler, context) = bound.value
            handler.drip(context, every: interval)
        }
    }

    /// Writes the next piece when the socket took the last.
    private func flood(_ context: ChannelHandlerContext, _ rest: Int, inChunks: Bool) {
        guard rest > 0, context.channel.isActive else { return }
        let size = min(rest, 64 << 10)
        var piece = ByteBuffer()
        if inChunks { piece.writeString(String(size, radix: 16) + "\r\n") }
        piece.writeRepeatingByte(UInt8(ascii: " "), count: size)
        if inChunks { piece.writeString("\r\n") }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(piece)).whenSuccess {
            let (handler, context) = bound.value
            handler.server.wrote(size)
            handler.flood(context, rest - size, inChunks: inChunks)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
