import AdapterKit
import Keyring
public import Logging
import NIOCore
import NIOPosix
import Pipeline
public import ServiceLifecycle
import Telemetry
import WorkerConfiguration

/// The signer: holds the key rings and signs for workers that connect to its Unix socket.
///
/// It runs until a graceful shutdown: it takes nothing new then, finishes what it has and takes its socket away. Whoever
/// may connect may have anything signed that looks like a JWT; who that is, the socket's folder, owner and group say.
public struct SignerServer: Service, CustomStringConvertible, CustomReflectable {
    /// Each may have a few frames in memory.
    private static let maximumConnections = 16

    private let configuration: Configuration
    private let rings: [KeyRing]
    private let socket: String
    private let signingLanes: Int
    private let logger: Logger
    private let isReady: @Sendable () -> Void

    /// - Parameters:
    ///   - preflight: a configuration that is ready; the rings it reads from folders are served.
    ///   - socket: where to listen.
    ///   - signingLanes: threads that sign, usually one per core.
    ///   - isReady: told once it listens.
    /// - Throws: `WorkerError` where the configuration is not ready or has no ring to serve.
    public init(
        _ preflight: Preflight, socket: String, signingLanes: Int, logger: Logger,
        isReady: @escaping @Sendable () -> Void = {}
    ) throws(WorkerError) {
        guard let configuration = preflight.configuration, preflight.isReady else {
            throw WorkerError("the configuration has errors; run: remint check")
        }
        guard !preflight.rings.isEmpty else {
            throw WorkerError("the configuration has no key ring with a path, so there is nothing to sign with")
        }
        self.configuration = configuration
        rings = Array(preflight.rings.values)
        self.socket = socket
        self.signingLanes = signingLanes
        self.logger = logger
        self.isReady = isReady
    }

    /// Not what it is configured with: frameworks log the services they run.
    public var description: String { "the signer on \(socket)" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    public func run() async throws {
        let socket = try SignerSocket(path: socket)
        let result: Result<Void, any Error>
        do {
            try await serve(on: socket.descriptor)
            result = .success(())
        } catch { result = .failure(error) }
        socket.remove()
        try result.get()
        logger.notice("the signer stopped")
    }

    private typealias Connection = NIOAsyncChannel<SignerFrame, ByteBuffer>

    private func serve(on descriptor: Int32) async throws {
        let signer = LocalSigner(rings, lanes: signingLanes)
        let keys = PublishedKeys(rings)
        let conversation = SignerConversation(signer: signer, keys: keys, logger: logger)
        let watcher = KeyRingWatcher(
            configuration: configuration, signer: signer, status: WorkerStatus(), logger: logger,
            changed: { keys.replace($0) })
        let revisions = watcher.revisions
        let server = try await listen(on: descriptor)
        let names = rings.map(\.name).sorted().joined(separator: ", ")
        logger.notice(
            "the signer listens", metadata: [LogKey.signerSocket: "\(socket)", LogKey.keyRing: "\(names)"])
        isReady()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await watcher.run(since: revisions) }
            defer { group.cancelAll() }
            try await accept(server, conversation)
        }
    }

    private func listen(on descriptor: Int32) async throws -> NIOAsyncChannel<Connection, Never> {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 64)
            .bind(descriptor) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(SignerFrameDecoder()))
                    // A frame may be large: what nobody can work on yet stays with whoever sent it.
                    return try Connection(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2)))
                }
            }
    }

    private func accept(
        _ server: NIOAsyncChannel<Connection, Never>, _ conversation: SignerConversation
    ) async throws {
        try await server.executeThenClose { connections in
            try await withThrowingTaskGroup(of: Void.self) { group in
                var open = 0
                for try await connection in connections.cancelOnGracefulShutdown() {
                    while open >= Self.maximumConnections, try await group.next() != nil { open -= 1 }
                    group.addTask { await conversation.run(connection) }
                    open += 1
                }
                try await group.waitForAll()
            }
        }
    }
}
