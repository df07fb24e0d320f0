import AsyncHTTPClient
import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// The program's only way to fetch anything over HTTP.
///
/// It uses HTTP/1.1 and, where the URL begins with https, TLS 1.2 or later with full verification. It follows no
/// redirect, decompresses nothing, reads no more than the request allows, and ends each exchange at one deadline: for
/// the connection, the head and the last byte of the body. It retries nothing, and writes no log line and no trace. The
/// maker of a transport closes it.
package struct HTTPTransport: Sendable {
    /// The longest time a connection may take, out of the time of the exchange.
    private static let longestConnecting = Duration.seconds(5)
    /// The time an unused connection is kept: less than servers and load balancers keep theirs.
    private static let idleTime = TimeAmount.seconds(30)
    /// The time a peer has to end a TLS connection in order, before the connection is dropped.
    private static let farewell = TimeAmount.milliseconds(250)
    /// The longest time `close` waits for connections.
    private static let longestClosing = TimeAmount.seconds(1)
    /// The longest deadline, so that no sum of times overflows.
    private static let longestExchange = Duration.seconds(86_400)

    private let client: HTTPClient
    /// The one loop of all its connections and requests. Where a request's loop is not its connection's, the end of its body is
    /// confirmed a turn later, and the library's pool traps if the connection was closed in between.
    private let loop: any EventLoop

    /// - Parameters:
    ///   - authorities: the authorities that certificates are checked against; nil for the system's.
    ///   - limit: the longest time of an exchange; a connection is given up after it, or after 5 seconds.
    ///   - connections: the most connections to one host.
    package init(trusting authorities: TrustedAuthorities? = nil, limit: Duration, connections: Int = 1) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        tls.trustRoots = authorities.map { .certificates($0.certificates) } ?? .default
        tls.shutdownTimeout = Self.farewell
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(min(limit, Self.longestConnecting))),
            connectionPool: .init(
                idleTimeout: Self.idleTime, concurrentHTTP1ConnectionsPerHostSoftLimit: max(1, connections)),
            proxy: nil, decompression: .disabled)
        configuration.httpVersion = .http1Only
        // The caller tries again, and knows better when.
        configuration.connectionPool.retryConnectionEstablishment = false
        // A trace would hold the request's URL, and with it the user.
        configuration.tracing.tracer = nil
        loop = MultiThreadedEventLoopGroup.singleton.next()
        client = HTTPClient(
            eventLoopGroup: loop, configuration: configuration,
            backgroundActivityLogger: Self.silence)
    }

    /// The client logs requests with their headers; here it logs nowhere.
    private static let silence = Logger(label: "remint.http") { _ in SwiftLogNoOpLogHandler() }

    /// Sends `request` and reads the whole answer. The connection is closed where the exchange ends early: at the deadline, with the
    /// task, at a body that is too long.
    ///
    /// - Parameter limit: the time from now to the last byte of the answer.
    /// - Throws: `TransportError`, also for a redirect and for an encoded body.
    package func send(_ request: TransportRequest, within limit: Duration) async throws(TransportError)
        -> TransportResponse
    {
        let host = request.host
        // The library's deadline covers the body as well only for requests with a delegate.
        let deadline = NIODeadline.now() + TimeAmount(min(max(limit, .zero), Self.longestExchange))
        do {
            let task = client.execute(
                request: try request.message, delegate: ResponseReader(request.reading),
                deadline: deadline, logger: Self.silence)
            return try await withTaskCancellationHandler {
                try await task.futureResult.get()
            } onCancel: {
                task.cancel()
            }
        } catch let refusal as ResponseRefusal {
            switch refusal {
            case .headIsEnough(let response): return response
            case .reason(let reason): throw TransportError(host, reason)
            }
        } catch { throw TransportError(host, TransportError.Reason(error, limit: limit)) }
    }

    /// Sends one request by a transport of its own.
    ///
    /// - Throws: `TransportError`.
    package static func send(
        _ request: TransportRequest, trusting authorities: TrustedAuthorities? = nil, within limit: Duration
    ) async throws(TransportError) -> TransportResponse {
        let transport = HTTPTransport(trusting: authorities, limit: limit)
        let result: Result<TransportResponse, TransportError>
        do throws(TransportError) { result = .success(try await transport.send(request, within: limit)) } catch {
            result = .failure(error)
        }
        await transport.close()
        return try result.get()
    }

    /// Closes all connections, and ends the exchanges under way. Waits a second at most for peers that do not answer the farewell.
    package func close() async {
        let closed = loop.makePromise(of: Void.self)
        // A promise keeps its first value.
        let timer = loop.scheduleTask(in: Self.longestClosing) { closed.succeed() }
        client.shutdown { _ in
            timer.cancel()
            closed.succeed()
        }
        try? await closed.futureResult.get()
    }
}
