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
                try HTTPClient.authorities(in: path)
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

    /// A client with the account's own connections. Whoever makes it must shut it down.
    func makeClient() -> HTTPClient {
        .strict(
            authorities: authorities, patience: min(timeout, Self.patienceForConnection),
            pool: .init(idleTimeout: Self.idleTime, concurrentHTTP1ConnectionsPerHostSoftLimit: concurrency))
    }
}
