import AdapterKit
import AsyncTestSupport
import Foundation
import JOSE
import Keyring
import Logging
import NIOCore
import NIOPosix
import Pipeline
import Synchronization
import Telemetry
import Testing
import WorkerTestSupport

@testable import Signing

/// Key rings on disk, and a socket for the signer that serves them.
struct SignerBench: ~Copyable {
    private let folder: TemporaryFolder
    let socket: String
    /// By ring.
    let keys: [String: SigningKey]
    /// The policies, by ring; a ring without one signs any token.
    var policies: [String: SigningPolicy] = [:]

    /// Rings named after their algorithms, and `push`, which an app needs.
    init(_ algorithms: [Algorithm]) throws {
        let folder = try TemporaryFolder()
        var keys = ["push": try KeyRings.make("\(folder.path)/push")]
        for algorithm in algorithms {
            keys[algorithm.rawValue] = try KeyRings.make(
                "\(folder.path)/\(algorithm.rawValue)", algorithm: algorithm)
        }
        socket = "\(folder.path)/s"
        self.folder = folder
        self.keys = keys
    }

    /// Makes the ring `name` one of a new key.
    @discardableResult
    func make(_ name: String, _ version: String, _ algorithm: Algorithm) throws -> SigningKey {
        try KeyRings.make("\(folder.path)/\(name)", version: version, algorithm: algorithm)
    }

    func ring(_ name: String) throws -> KeyRing {
        try KeyRingDirectory(path: "\(folder.path)/\(name)").load(name: name)
    }

    /// The time of day of these signers.
    static let now = UnixTime(seconds: 1_800_000_000)

    /// A token's signing input that a signer takes where nothing is written about it, with `text` in it.
    static func input(_ algorithm: Algorithm, _ text: String) -> SigningInput {
        input(#"{"alg":"\#(algorithm.rawValue)"}"#, #"{"exp":1800003600,"text":"\#(text)"}"#)
    }

    static func input(_ header: String, _ payload: String) -> SigningInput {
        SigningInput(
            encodedHeader: Array(Base64.url.encode(Array(header.utf8)).utf8), payload: Array(payload.utf8))
    }

    /// Runs a signer while `body` runs.
    func withServer<Result>(
        logger: Logger = silent, allowing users: Set<UInt32> = [geteuid()], limits: ConnectionTable.Limits = .init(),
        uptime: ManualUptime = ManualUptime(), _ body: () async throws -> Result
    ) async throws -> Result {
        let (ready, isReady) = AsyncStream<Void>.makeStream()
        let table = ConnectionTable(allowing: users, limits: limits)
        let server = try server(logger: logger, table: table, uptime: uptime) { isReady.finish() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { isReady.finish() }
                try await server.run()
            }
            for await _ in ready {}
            let result = try await body()
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
            return result
        }
    }

    func server(
        logger: Logger = silent, table: ConnectionTable = ConnectionTable(allowing: [geteuid()], limits: .init()),
        uptime: ManualUptime = ManualUptime(), isReady: @escaping @Sendable () -> Void = {}
    ) throws -> SignerServer {
        let rings = try keys.keys.sorted().map { name in
            ServedRing(
                try ring(name), in: WatchedRing(name: name, path: "\(folder.path)/\(name)", uses: []),
                policy: policies[name] ?? .any)
        }
        return try SignerServer(
            rings, socket: socket, table: table,
            signingLanes: 2, logger: logger, clock: uptime.clock, isReady: isReady)
    }
}

/// One end of a connection to a signer, which sends what a test wants and keeps what comes.
struct SignerPeer {
    private let channel: any Channel
    private var incoming: AsyncStream<SignerFrame>.Iterator

    static func open(_ socket: String) async throws -> SignerPeer {
        let (frames, sink) = AsyncStream<SignerFrame>.makeStream()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        ByteToMessageHandler(SignerFrameDecoder()), Collector(sink),
                    ])
                }
            }
            .connect(unixDomainSocketPath: socket).get()
        return SignerPeer(channel: channel, incoming: frames.makeAsyncIterator())
    }

    func send(_ frame: SignerFrame) async throws { try await channel.writeAndFlush(try frame.encoded()) }

    /// The next frame; nil where the connection is closed.
    mutating func next() async -> SignerFrame? { await incoming.next(isolation: #isolation) }

    /// Returns the answer to `frame`.
    mutating func ask(_ frame: SignerFrame) async throws -> SignerFrame? {
        try await send(frame)
        return await next()
    }

    func close() async { try? await channel.close() }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = SignerFrame
        private let sink: AsyncStream<SignerFrame>.Continuation
        init(_ sink: AsyncStream<SignerFrame>.Continuation) { self.sink = sink }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) { sink.yield(Self.unwrapInboundIn(data)) }
        func channelInactive(context: ChannelHandlerContext) { sink.finish() }
    }
}

/// A worker's client of a signer, running, and what it logs.
struct ClientBench {
    let signer: SignerProcess
    let problems = RecordedProblems()
    let log = RecordingLog()
    private let registry = MetricsRegistry()

    /// Returns the value of the metric `sample`; nil where there is none.
    func metric(_ sample: String) -> Double? {
        let lines = registry.exposition().split(separator: "\n")
        return lines.first { $0.hasPrefix("\(sample) ") }.flatMap { Double($0.dropFirst(sample.count + 1)) }
    }

    var problem: String? { problems.text }
    var errors: [String] { log.lines.filter { $0.level == .error }.compactMap { $0.metadata["remint.detail"] } }

    /// Runs a client of the signer on `socket` while `body` runs.
    static func with(
        _ socket: String, _ wanted: [String: Set<Algorithm>], timeout: Duration = WorkerTestSupport.patience,
        _ body: (ClientBench) async throws -> Void
    ) async throws {
        let bench = ClientBench(socket, wanted, timeout)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await bench.signer.run() }
            try await body(bench)
            group.cancelAll()
        }
    }

    private init(_ socket: String, _ wanted: [String: Set<Algorithm>], _ timeout: Duration) {
        signer = SignerProcess(
            socket: socket, wanted: wanted, problems: problems.report, metrics: SignerMetrics(registry), lanes: 2,
            times: .init(timeout: timeout, keyTimeout: WorkerTestSupport.patience, interval: .milliseconds(20)),
            logger: log.logger())
    }

    /// A request under the active key of `ring`.
    func request(_ ring: String, _ text: String) throws -> SigningRequest {
        let key = try #require(signer.activeKey(of: ring), "\(problem ?? "")")
        return SigningRequest(
            key: key, input: SignerBench.input(key.algorithm, text))
    }

    /// One signature of `ring`.
    func signOne(_ ring: String) async throws -> Result<[UInt8], Rejection> {
        try #require(await signer.sign([try request(ring, "one")], urgency: .live).first)
    }
}

final class ScriptedSigner: Sendable {
    enum Reply: Sendable {
        case frame(SignerFrame)
        case bytes([UInt8])
        case nothing
        case hangUp
    }

    private let frames = Mutex<[SignerFrame]>([])
    private let script: Mutex<@Sendable (SignerFrame) -> Reply>
    private let server = Mutex<(any Channel)?>(nil)

    var signRequests: Int {
        frames.withLock { $0.count { if case .signRequest = $0 { true } else { false } } }
    }

    init(_ script: @escaping @Sendable (SignerFrame) -> Reply) { self.script = Mutex(script) }

    func answer(_ script: @escaping @Sendable (SignerFrame) -> Reply) { self.script.withLock { $0 = script } }

    /// Listens on `socket` while `body` runs.
    func listening(_ socket: String, _ body: () async throws -> Void) async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        ByteToMessageHandler(SignerFrameDecoder()), Handler(self),
                    ])
                }
            }
            .bind(unixDomainSocketPath: socket, cleanupExistingSocketFile: true).get()
        do {
            try await body()
            try await channel.close()
        } catch {
            try await channel.close()
            throw error
        }
    }

    private func reply(to frame: SignerFrame) -> Reply {
        frames.withLock { $0.append(frame) }
        return script.withLock { $0 }(frame)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = SignerFrame
        typealias OutboundOut = ByteBuffer

        private let signer: ScriptedSigner

        init(_ signer: ScriptedSigner) { self.signer = signer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch signer.reply(to: Self.unwrapInboundIn(data)) {
            case .frame(let frame):
                if let bytes = try? frame.encoded() { context.writeAndFlush(Self.wrapOutboundOut(bytes), promise: nil) }
            case .bytes(let bytes):
                context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            case .nothing: break
            case .hangUp: context.close(promise: nil)
            }
        }
    }
}
