import AdapterKit
import AsyncHTTPClient
import Formats
import JOSE
import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// An account as its requests need it: everything of its endpoint that can be wrong is read and checked.
struct LookupDestination: Sendable, CustomStringConvertible, CustomReflectable {
    /// How long a connection may take that is not to take the whole of a call's time.
    private static let patienceForConnection = Duration.seconds(5)
    /// How long a connection is kept that nobody uses: less than servers and load balancers keep theirs.
    private static let idleTime = TimeAmount.seconds(30)

    let name: String
    let url: EndpointURL
    let timeout: Duration
    let concurrency: Int
    /// The value of `Authorization`; nil where each request has its own.
    let authorization: SecretBytes?
    /// The requests on their way.
    let permits: LookupPermits
    private let authorities: [NIOSSLCertificate]?

    /// - Throws: `EndpointError` where the endpoint cannot be used.
    init(_ endpoint: LookupEndpoint) throws(EndpointError) {
        name = endpoint.account
        timeout = endpoint.timeout
        concurrency = endpoint.concurrency
        permits = LookupPermits(endpoint.concurrency)
        do throws(EndpointError) {
            guard endpoint.timeout > .zero else { throw EndpointError("the time limit is longer than nothing") }
            url = try Self.url(endpoint.url)
            authorization = try endpoint.credentials.header(for: endpoint.authorization)
            authorities = try endpoint.certificateAuthority.map { path throws(EndpointError) in
                try Self.certificates(in: path)
            }
        } catch { throw EndpointError("look-ups of \(endpoint.account): \(error)") }
    }

    var description: String { "the account \(name)" }
    var customMirror: Mirror { Mirror(self, children: ["name": name]) }

    private static func url(_ text: String) throws(EndpointError) -> EndpointURL {
        do throws(EndpointURL.Problem) {
            return try EndpointURL(parsing: text)
        } catch {
            // The URL itself is not repeated: somebody may have put a key into it.
            throw EndpointError("the endpoint's URL cannot be used: it \(error.message)")
        }
    }

    private static func certificates(in path: String) throws(EndpointError) -> [NIOSSLCertificate] {
        let found = (try? NIOSSLCertificate.fromPEMFile(path)) ?? []
        guard !found.isEmpty else {
            throw EndpointError("certificate_authority: there is no certificate in PEM form in \(path)")
        }
        return found
    }

    /// A client with the account's own connections. Whoever makes it must shut it down.
    func makeClient() -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        tls.trustRoots = authorities.map { .certificates($0) } ?? .default
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(min(timeout, Self.patienceForConnection))),
            connectionPool: .init(
                idleTimeout: Self.idleTime, concurrentHTTP1ConnectionsPerHostSoftLimit: concurrency),
            proxy: nil, decompression: .disabled)
        configuration.httpVersion = .http1Only
        // Whoever asked tries again, and knows better when.
        configuration.connectionPool.retryConnectionEstablishment = false
        // A trace would hold the request's URL, and with it the user.
        configuration.tracing.tracer = nil
        return HTTPClient(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration,
            backgroundActivityLogger: Self.silence)
    }

    /// The client logs requests with their headers.
    static let silence = Logger(label: "remint.lookup") { _ in SwiftLogNoOpLogHandler() }
}
