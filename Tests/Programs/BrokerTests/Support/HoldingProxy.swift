import NIOCore
import NIOPosix
import Synchronization

/// A proxy between clients and brokers of this machine that holds back for a while what is fetched of one topic.
///
/// Brokers send clients their own addresses, so that each answer gets the proxies' ports in place of the brokers'.
/// Answers of a connection come in order: behind one that is held back, all later ones of this client's connection
/// wait.
final class HoldingProxy: Sendable {
    /// The host of the brokers and proxies.
    static let host = "127.0.0.1"

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private struct State {
        var topic: [UInt8] = []
        var end: ContinuousClock.Instant?
        var held = 0
    }

    private let state = Mutex(State())
    /// By the broker's port, its proxy's.
    private let ports: [Int: Int]
    private let servers: [(broker: Int, server: NIOAsyncChannel<Connection, Never>)]

    var addresses: String { ports.values.sorted().map { "\(Self.host):\($0)" }.joined(separator: ",") }
    /// The number of answers that were held back.
    var held: Int { state.withLock { $0.held } }

    /// Proxies before the brokers at `brokers`, the ports of this machine.
    init(_ brokers: [Int]) async throws {
        var servers: [(broker: Int, server: NIOAsyncChannel<Connection, Never>)] = []
        var ports: [Int: Int] = [:]
        for broker in brokers {
            let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: Self.host, port: 0) { channel in
                    channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
                }
            ports[broker] = server.channel.localAddress?.port ?? 0
            servers.append((broker, server))
        }
        self.servers = servers
        self.ports = ports
    }

    /// Holds back what is fetched of `topic` from now on until `length` is over.
    func hold(_ topic: String, for length: Duration) {
        state.withLock { $0 = State(topic: Array(topic.utf8), end: .now + length) }
    }

    /// Carries bytes until the task is canceled.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for (broker, server) in servers {
                group.addTask {
                    try await server.executeThenClose { clients in
                        try await withThrowingDiscardingTaskGroup { group in
                            for try await client in clients { group.addTask { await self.join(client, broker) } }
                        }
                    }
                }
            }
        }
    }

    private func join(_ client: Connection, _ broker: Int) async {
        // Either end may go away at any moment, as clients and brokers do.
        try? await client.executeThenClose { requests, toClient in
            let server = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: Self.host, port: broker) { channel in
                    channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
                }
            try await server.executeThenClose { answers, toServer in
                let fetches = Fetches()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await self.carry(requests, to: toServer, fetches) }
                    group.addTask { try await self.carry(back: answers, to: toClient, fetches) }
                    try await group.next()
                    group.cancelAll()
                }
            }
        }
    }

    /// The requests of one connection whose answers are held back, by their correlation ids.
    private final class Fetches: Sendable {
        private let ids = Mutex<Set<Int32>>([])

        func add(_ id: Int32) { ids.withLock { _ = $0.insert(id) } }
        func remove(_ id: Int32) -> Bool { ids.withLock { $0.remove(id) != nil } }
    }

    private func carry(
        _ requests: NIOAsyncChannelInboundStream<ByteBuffer>, to server: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ fetches: Fetches
    ) async throws {
        var frames = Frames()
        for try await bytes in requests {
            frames.add(bytes)
            while let frame = frames.next() {
                if isHeld(frame), let id = frame.getInteger(at: frame.readerIndex + 8, as: Int32.self) {
                    fetches.add(id)
                }
                try await server.write(frame)
            }
        }
    }

    private func carry(
        back answers: NIOAsyncChannelInboundStream<ByteBuffer>, to client: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ fetches: Fetches
    ) async throws {
        var frames = Frames()
        for try await bytes in answers {
            frames.add(bytes)
            while let frame = frames.next() {
                if let id = frame.getInteger(at: frame.readerIndex + 4, as: Int32.self), fetches.remove(id) {
                    let end = state.withLock { state in
                        state.held += 1
                        return state.end
                    }
                    // The delay of the proxy.
                    if let end { try await Task.sleep(until: end, clock: .continuous) }
                }
                try await client.write(renamed(frame))
            }
        }
    }

    /// Whether `frame` asks for records of the topic that is held back: a fetch has the API key 1 and names its topics.
    private func isHeld(_ frame: ByteBuffer) -> Bool {
        guard frame.getInteger(at: frame.readerIndex + 4, as: Int16.self) == 1 else { return false }
        let (topic, end) = state.withLock { ($0.topic, $0.end) }
        guard let end, .now < end else { return false }
        return !Self.places(of: topic, in: frame).isEmpty
    }

    /// `frame` with the proxies' ports for the brokers'.
    private func renamed(_ frame: ByteBuffer) -> ByteBuffer {
        var renamed = frame
        for (broker, proxy) in ports {
            var address = ByteBuffer(string: Self.host)
            address.writeInteger(Int32(broker))
            for place in Self.places(of: Array(address.readableBytesView), in: frame) {
                renamed.setInteger(Int32(proxy), at: place + Self.host.utf8.count)
            }
        }
        return renamed
    }

    /// Returns the offsets of `part` in `frame`.
    private static func places(of part: [UInt8], in frame: ByteBuffer) -> [Int] {
        let bytes = frame.readableBytesView
        guard let first = part.first, bytes.count >= part.count else { return [] }
        return (bytes.startIndex...(bytes.endIndex - part.count)).filter { start in
            bytes[start] == first && bytes[start..<(start + part.count)].elementsEqual(part)
        }
    }

    /// The requests or answers in a stream of bytes, each with its length in front.
    private struct Frames {
        private var bytes = ByteBuffer()

        mutating func add(_ more: ByteBuffer) {
            bytes.discardReadBytes()
            bytes.writeImmutableBuffer(more)
        }

        mutating func next() -> ByteBuffer? {
            guard let length = bytes.getInteger(at: bytes.readerIndex, as: Int32.self) else { return nil }
            return bytes.readSlice(length: 4 + Int(length))
        }
    }
}
