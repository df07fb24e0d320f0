import AdapterKit
import Formats
import HTTPTransport
import JOSE

/// An account as its requests need it: everything of its endpoint that can be wrong is read and checked.
struct LookupDestination: Sendable, CustomStringConvertible, CustomReflectable {
    let name: String
    let url: EndpointURL
    let timeout: Duration
    let concurrency: Int
    /// The value of `Authorization`; nil where each request has its own.
    let authorization: SecretBytes?
    /// The requests on their way.
    let permits: LookupPermits
    private let authorities: TrustedAuthorities?

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
                try TrustedAuthorities(file: path)
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

    /// Returns a transport with the account's own connections, which its maker closes.
    func makeTransport() -> HTTPTransport {
        HTTPTransport(trusting: authorities, limit: timeout, connections: concurrency)
    }
}
