public import AdapterKit
import Glibc
import Keyring
public import Logging
import NIOCore
import NIOPosix
import Pipeline
public import ServiceLifecycle
import Telemetry

/// The signer: holds the key rings and signs for workers that connect to its Unix socket.
///
/// It runs until a graceful shutdown; then it accepts nothing new, finishes its open requests and removes its socket.
/// The socket's folder, owner and group and the configured users decide who may ask. Each ring's policy decides which
/// signatures it makes.
public struct SignerServer: Service, CustomStringConvertible, CustomReflectable {
    private let rings: [ServedRing]
    private let watched: KeyRingWatcher.Watched
    private let socket: String
    private let signingLanes: Int
    private let table: ConnectionTable
    private let clock: SignerClock
    private let logger: Logger
    private let isReady: @Sendable () -> Void

    /// - Parameters:
    ///   - rings: the rings to serve, each with its policy.
    ///   - revisions: the folders' listings from just before the rings were loaded, so that no later change is missed;
    ///     nil for the present ones.
    ///   - socket: the path of the socket to listen at.
    ///   - users: the users that may ask, by their ids; nil for the signer's own and root.
    ///   - signingLanes: threads that sign, usually one per core.
    ///   - now: the time of day.
    ///   - isReady: a function called once the server listens.
    /// - Throws: `SignerError` where there is no ring to serve.
    public init(
        _ rings: [ServedRing], revisions: [String: FileRevision?]? = nil, socket: String,
        allowing users: Set<UInt32>? = nil, signingLanes: Int, logger: Logger,
        now: @escaping @Sendable () -> UnixTime,
        isReady: @escaping @Sendable () -> Void = {}
    ) throws(SignerError) {
        try self.init(
            rings, revisions: revisions, socket: socket,
            table: ConnectionTable(allowing: users ?? [geteuid(), 0], limits: .init()), signingLanes: signingLanes,
            logger: logger, clock: .system(now: now), isReady: isReady)
    }

    init(
        _ rings: [ServedRing], revisions: [String: FileRevision?]? = nil, socket: String, table: ConnectionTable,
        signingLanes: Int,
        logger: Logger, clock: SignerClock, isReady: @escaping @Sendable () -> Void
    ) throws(SignerError) {
        guard !rings.isEmpty else {
            throw SignerError("the configuration has no key ring with a path, so there is nothing to sign with")
        }
        self.rings = rings
        watched = .init(
            rings.map(\.folder), revisions: revisions ?? KeyRingWatcher.revisions(of: rings.map(\.folder)))
        self.socket = socket
        self.signingLanes = signingLanes
        self.table = table
        self.clock = clock
        self.logger = logger
        self.isReady = isReady
    }

    /// Names the socket alone, never the configuration: frameworks log the services that they run.
    public var description: String { "the signer on \(socket)" }
    /// Nothing: a dump or a mirror shows no member.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Serves workers until the process is asked to stop.
    ///
    /// - Throws: `SignerError` if the socket cannot be served.
    public func run() async throws {
        let socket = try SignerSocket(path: socket)
        let result: Result<Void, any Error>
        do {
            try await serve(on: socket.descriptor)
            result = .success(())
        } catch { result = .failure(error) }
        socket.remove()
        try result.get()
        logger.notice("signer.stopped", "the signer stopped")
    }

    private func serve(on descriptor: Int32) async throws {
        let signer = LocalSigner(rings.map(\.ring), lanes: signingLanes)
        let keys = PublishedKeys(rings.map(\.ring))
        let policies = rings.map { ($0.name, $0.policy) }
        let shared = SharedSigning(
            signer: signer, keys: keys, policies: Dictionary(policies) { first, _ in first },
            connections: SignerConnections(table, uptime: clock.uptime), tally: SigningTally(), clock: clock,
            logger: logger)
        let watcher = KeyRingWatcher(
            { [watched] in watched }, signer: signer, problems: { _, _ in }, logger: logger,
            changed: { keys.replace($0) })
        let server = try await listen(on: descriptor)
        let names = rings.map(\.name).sorted().joined(separator: ", ")
        logger.notice(
            "signer.listening", "the signer listens",
            metadata: [LogKey.signerSocket: "\(socket)", LogKey.keyRing: "\(names)"])
        isReady()
        defer { shared.tally.report(to: logger) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await watcher.run() }
            group.addTask { await keepHouse(shared) }
            defer { group.cancelAll() }
            try await accept(server, shared)
        }
    }

    /// Closes connections that are silent for too long, and reports once a minute, until the task is canceled.
    private func keepHouse(_ shared: SharedSigning) async {
        var reported = clock.uptime()
        while (try? await clock.sleep(SignerClock.round)) != nil {
            shared.connections.closeOverdue()
            guard clock.uptime() - reported >= SignerClock.reportInterval else { continue }
            reported = clock.uptime()
            shared.tally.report(to: logger)
        }
    }

    private func listen(on descriptor: Int32) async throws -> NIOAsyncChannel<SignerArrival, Never> {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 64)
            .bind(descriptor) { channel in
                PeerCredentials.of(channel).flatMapThrowing { peer in
                    try channel.pipeline.syncOperations.addHandler(
                        ByteToMessageHandler(SignerFrameDecoder(limit: SignerProtocol.maximumRequestBytes)))
                    // A frame may be large, so frames that cannot be worked on yet stay with their sender.
                    let connection = try SignerArrival.Connection(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2)))
                    return SignerArrival(connection, of: peer.user)
                }
            }
    }

    private func accept(_ server: NIOAsyncChannel<SignerArrival, Never>, _ shared: SharedSigning) async throws {
        try await server.executeThenClose { arrivals in
            try await withThrowingDiscardingTaskGroup { group in
                for try await arrival in arrivals.cancelOnGracefulShutdown() {
                    group.addTask { await receive(arrival, shared) }
                }
            }
        }
    }

    private func receive(_ arrival: SignerArrival, _ shared: SharedSigning) async {
        let connection = arrival.take()
        do throws(SignerConnections.Refusal) {
            let number = try shared.connections.admit(connection.channel, of: arrival.user)
            defer { shared.connections.left(number) }
            await SignerConversation(shared: shared, number: number, user: arrival.user).run(connection)
        } catch {
            let reason = error.reason
            if reason != .accountNotAllowed || shared.tally.turnedAway(arrival.user) {
                logger.warning(
                    "signer.connection-refused", "a connection was closed at once",
                    metadata: [LogKey.signerUser: "\(arrival.user)", LogKey.detail: "\(reason)"])
            }
            // Whether the peer hears it is the peer's affair.
            try? await connection.executeThenClose { _, answers in
                try await answers.write(try SignerFrame.closing(reason).encoded())
            }
        }
    }
}

/// The process on the other side of a Unix socket, as the kernel noted it at the connection (unix(7), SO_PEERCRED).
private struct PeerCredentials: Sendable {
    // `struct ucred`, which glibc declares for GNU programs alone.
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0

    static func of(_ channel: any Channel) -> EventLoopFuture<PeerCredentials> {
        guard let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        return provider.unsafeGetSocketOption(level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
    }
}
