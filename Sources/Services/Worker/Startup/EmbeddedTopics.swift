import Kafka
import Logging
import NIOCore
import NIOPosix
import Serving
import Telemetry
import Wiring
import WorkerConfiguration

/// The broker in this process, with the worker's topics on it and, where the configuration names one, a port of its own.
struct EmbeddedTopics: Sendable {
    /// Enough to spread 5 MiB partitions over, and to see work shared.
    private static let partitions = 8

    private let broker: EmbeddedBroker
    private let port: EmbeddedPort?
    var bootstrapServers: String { broker.bootstrapServers }

    /// Starts the broker.
    ///
    /// - Throws: `KafkaError`, or `WorkerError` where the configured port cannot be used.
    static func start(_ configuration: Configuration, logger: Logger) async throws -> EmbeddedTopics {
        let broker = try EmbeddedBroker(logger: logger)
        do {
            for topic in configuration.allTopics {
                try await broker.createTopic(topic, partitions: partitions)
            }
            try await broker.createTopic(configuration.topics.control, partitions: 1)
            var port: EmbeddedPort?
            if let number = configuration.kafka.embeddedPort {
                port = try await EmbeddedPort.open(number, to: broker.bootstrapServers)
            }
            logger.notice(
                "embedded-broker.listening",
                "the embedded broker listens; it keeps nothing and isolates no transaction, so delivery is at least once",
                metadata: [LogKey.bootstrapServers: "\(port?.address ?? broker.bootstrapServers)"])
            return EmbeddedTopics(broker: broker, port: port)
        } catch {
            await broker.close()
            throw error
        }
    }

    func close() async {
        await port?.close()
        await broker.close()
    }
}

/// A port of this machine that leads to the embedded broker, whose own port is the system's choice.
///
/// A client needs it for its first question alone: the answer names the broker's own port, which the client calls next.
struct EmbeddedPort: Sendable {
    private static let host = "127.0.0.1"

    private let server: any Channel
    let address: String

    /// Listens on `port`, or on any free one for 0, and carries what comes to the broker at `broker` and back.
    ///
    /// - Throws: `WorkerError` where the port cannot be used.
    static func open(_ port: UInt16, to broker: String) async throws -> EmbeddedPort {
        guard let target = broker.split(separator: ":").last.flatMap({ Int($0) }) else {
            throw WorkerError("the embedded broker has no port; report this line")
        }
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { client in Self.join(client, to: target) }
        do {
            let server = try await bootstrap.bind(host: host, port: Int(port)).get()
            return EmbeddedPort(server: server, address: "\(host):\(server.localAddress?.port ?? Int(port))")
        } catch {
            let problem =
                (error as? IOError)?.listeningProblem(named: "kafka.bootstrap_servers: embedded:PORT") ?? "\(error)"
            throw WorkerError("the embedded broker cannot listen on port \(port): \(problem)")
        }
    }

    func close() async { try? await server.close() }

    /// Connects `client` to the broker at the port `broker`.
    private static func join(_ client: any Channel, to broker: Int) -> EventLoopFuture<Void> {
        // On the client's own event loop, so that the two handlers share one thread.
        ClientBootstrap(group: client.eventLoop).connect(host: host, port: broker).flatMapThrowing { channel in
            let (near, far) = RelayHandler.pair()
            try client.pipeline.syncOperations.addHandler(near)
            try channel.pipeline.syncOperations.addHandler(far)
        }
    }
}

/// One end of two connections that carry each other's bytes, and close together.
private final class RelayHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var other: RelayHandler?
    private var context: ChannelHandlerContext?

    static func pair() -> (RelayHandler, RelayHandler) {
        let ends = (RelayHandler(), RelayHandler())
        ends.0.other = ends.1
        ends.1.other = ends.0
        return ends
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        other = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { other?.context?.write(data, promise: nil) }

    func channelReadComplete(context: ChannelHandlerContext) { other?.context?.flush() }

    func channelInactive(context: ChannelHandlerContext) { other?.context?.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
