import AdapterKit
import Foundation
import Keyring
import Logging
import NIOCore
import NIOPosix
import Pipeline
import Synchronization
import Testing
import WorkerConfiguration

@testable import Worker

/// Key rings on disk, and a socket for the signer that serves them.
struct SignerBench: ~Copyable {
    private let folder: TemporaryFolder
    let socket: String
    /// By ring.
    let keys: [String: SigningKey]

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

    /// Runs a signer while `body` runs.
    func withServer<Result>(logger: Logger = silent, _ body: () async throws -> Result) async throws -> Result {
        let (ready, isReady) = AsyncStream<Void>.makeStream()
        let server = try server(logger: logger) { isReady.finish() }
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

    /// A signer of these rings.
    func server(logger: Logger = silent, isReady: @escaping @Sendable () -> Void = {}) throws -> SignerServer {
        let rings = keys.keys.sorted().map { "\($0): { path: \"\(folder.path)/\($0)\" }" }
        let text = workerConfiguration(brokers: "127.0.0.1:1")
            .replacing("keys: { push: { path: \"ring\" } }", with: "keys: { \(rings.joined(separator: ", ")) }")
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil })
        let preflight = Preflight(file: "c.yaml", registry: registry, source: source)
        #expect(preflight.isReady, "\(preflight.diagnostics)")
        return try SignerServer(preflight, socket: socket, signingLanes: 2, logger: logger, isReady: isReady)
    }
}

/// A worker's client of a signer, running, and what it says.
struct ClientBench {
    let signer: SignerProcess
    let status = WorkerStatus()
    let log = RecordingLog()

    var problem: String? { status.problems[.keys] }
    var errors: [String] { log.lines.filter { $0.level == .error }.compactMap { $0.metadata["remint.detail"] } }

    /// Runs a client of the signer on `socket` while `body` runs.
    static func with(
        _ socket: String, _ wanted: [String: Set<Algorithm>], patience: Duration = .seconds(20),
        _ body: (ClientBench) async throws -> Void
    ) async throws {
        let bench = ClientBench(socket, wanted, patience)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await bench.signer.run() }
            try await body(bench)
            group.cancelAll()
        }
    }

    private init(_ socket: String, _ wanted: [String: Set<Algorithm>], _ patience: Duration) {
        signer = SignerProcess(
            socket: socket, wanted: wanted, status: status, lanes: 2,
            times: .init(patience: patience, patienceForKeys: .seconds(20), interval: .milliseconds(20)),
            logger: log.logger())
    }

    /// A request under the active key of `ring`.
    func request(_ ring: String, _ text: String) throws -> SigningRequest {
        let key = try #require(signer.activeKey(of: ring), "\(problem ?? "")")
        return SigningRequest(
            key: key, input: SigningInput(encodedHeader: Array("e30".utf8), payload: Array(text.utf8)))
    }

    /// One signature of `ring`.
    func signOne(_ ring: String) async throws -> Result<[UInt8], Rejection> {
        try #require(await signer.sign([try request(ring, "one")], urgency: .live).first)
    }
}

/// A signer that answers as it is told.
final class ScriptedSigner: Sendable {
    enum Reply: Sendable {
        case frame(SignerFrame)
        case bytes([UInt8])
        case nothing
        case hangUp
    }

    /// What came, in its order.
    private let frames = Mutex<[SignerFrame]>([])
    private let script: Mutex<@Sendable (SignerFrame) -> Reply>
    private let server = Mutex<(any Channel)?>(nil)

    var signRequests: Int {
        frames.withLock { $0.count { if case .signRequest = $0 { true } else { false } } }
    }

    init(_ script: @escaping @Sendable (SignerFrame) -> Reply) { self.script = Mutex(script) }

    /// Answers like this from now on.
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
