public import AdapterKit
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A vendor's REST API on a port of this machine: HTTP/1.1 around a `VendorStub`, with faults on request.
///
/// The stub makes the answers; `misbehaviour` makes the faults that a client must cope with. It listens on 127.0.0.1
/// alone, on a port that the system chooses, and runs until it is stopped.
public final class StubServer: Sendable {
    /// The certificate and the key of a server that speaks TLS.
    public struct TLS: Sendable {
        /// The PEM file of its certificate, with those between it and its authority behind it.
        public let certificates: String
        /// The PEM file of the certificate's key.
        public let key: String

        /// TLS with the certificate and the key in these PEM files.
        public init(certificates: String, key: String) {
            self.certificates = certificates
            self.key = key
        }
    }

    /// The server's URL: `http://127.0.0.1:PORT`, or `https://localhost:PORT` where it speaks TLS.
    public let url: String
    /// The port.
    public let port: Int

    private let state: StubState
    private let listener: any Channel

    private init(_ state: StubState, _ listener: any Channel, port: Int, isSecure: Bool) {
        self.state = state
        self.listener = listener
        self.port = port
        url = isSecure ? "https://localhost:\(port)" : "http://127.0.0.1:\(port)"
    }

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - stub: the vendor that answers; the server asks one question at a time.
    ///   - now: the time that the stub gets.
    ///   - tls: the certificate and the key; nil for plain HTTP.
    /// - Throws: NIO's errors, where the server cannot listen or cannot read the certificate or the key.
    public static func start(
        _ stub: any VendorStub, now: @escaping @Sendable () -> UnixTime, tls: TLS? = nil
    ) async throws -> StubServer {
        let state = StubState(stub, now: now)
        let security = try tls.map(context)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let edge = SocketEdge(state)
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(edge)
                    if let security { try pipeline.addHandler(NIOSSLServerHandler(context: security)) }
                    try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
                    try pipeline.addHandler(StubConversation(state, edge))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return StubServer(state, listener, port: listener.localAddress?.port ?? 0, isSecure: tls != nil)
    }

    private static func context(_ tls: TLS) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMFile(tls.certificates).map { NIOSSLCertificateSource.certificate($0) }
        let key = try NIOSSLPrivateKey(file: tls.key, format: .pem)
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key)))
    }

    /// Closes every connection, answered or not, and listens no more. Once it returns, nothing of the server is left.
    public func stop() async {
        try? await listener.close()
        for connection in state.stop() {
            // TLS would wait for the client's farewell, and the client may be the reason for the stop.
            connection.channel.eventLoop.execute { connection.edge.value.sever(withReset: false) }
            try? await connection.channel.closeFuture.get()
        }
    }

    // MARK: Faults

    /// The fault of the answers at the moment. Setting it makes the server misbehave until it is set again.
    public var misbehaviour: Misbehaviour {
        get { state.misbehaviour }
        set { state.misbehave(newValue, for: nil) }
    }

    /// Misbehaves for the next `count` requests, and answers properly after them; without a count until the next call.
    public func misbehave(_ misbehaviour: Misbehaviour, for count: Int? = nil) {
        state.misbehave(misbehaviour, for: count)
    }

    /// Answers with `stub` from now on.
    public func replace(_ stub: any VendorStub) { state.replace(stub) }

    // MARK: What happened

    /// The requests that arrived whole, in their order; of very many the last.
    public var requests: [Arrival] { state.arrivals }

    /// The counts of the server's work so far.
    public var traffic: StubTraffic { state.traffic }

    /// Waits until `count` requests have arrived since the start.
    ///
    /// - Throws: `CancellationError` where the task is canceled first.
    public func waitForRequests(_ count: Int) async throws { try await state.waitForRequests(count) }
}
