import AdapterKit
import Hummingbird
import JOSE
import NIOCore
import WorkerConfiguration

/// Keeps browsers and strangers away from the admin server.
///
/// A page that somebody opens beside the server must not be able to ask it anything: it is stopped by `Host`, which a name that
/// was bound to this address later does not match, and by `Origin` and `Sec-Fetch-Site`, which every browser sends. Where
/// there is a token, everything but the probes asks for it.
struct AdminGuard: RouterMiddleware {
    typealias Context = BasicRequestContext

    /// Names by which this machine calls itself.
    private static let loopback: Set<String> = ["localhost", "127.0.0.1", "[::1]", "::1"]

    private let hosts: Set<String>
    private let token: SecretBytes?

    init(_ admin: Configuration.Admin, token: SecretBytes?) {
        hosts = Self.loopback.union(admin.hosts.map { $0.lowercased() }).union([
            admin.host.lowercased(), "[\(admin.host)]",
        ])
        self.token = token
    }

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let authority = request.head.authority, hosts.contains(Self.host(of: authority)) else {
            return AdminServer.problem(.misdirectedRequest, "this host name is not the admin server's; see admin.hosts")
        }
        if let origin = request.headers[.origin], !Self.isOwn(origin, authority) {
            return AdminServer.problem(.forbidden, "the admin server answers no other page")
        }
        // Whether a page of another site asks (W3C Fetch Metadata).
        let site = request.headers.first { $0.name.canonicalName == "sec-fetch-site" }?.value
        if let site, site != "same-origin", site != "none" {
            return AdminServer.problem(.forbidden, "the admin server answers no other page")
        }
        guard request.uri.path.hasPrefix("/health/") || isAuthorized(request) else {
            var refusal = AdminServer.problem(.unauthorized, "the admin server asks for the token of admin.token_file")
            refusal.headers[.wwwAuthenticate] = "Bearer"
            return refusal
        }
        return try await next(request, context)
    }

    private func isAuthorized(_ request: Request) -> Bool {
        guard let token else { return true }
        guard let text = request.headers[.authorization], text.prefix(7).lowercased() == "bearer " else { return false }
        return token.equals(SecretBytes(copying: text.dropFirst(7).utf8))
    }

    /// The host without its port, in lower case.
    private static func host(of authority: String) -> String {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]").map { authority.index(after: $0) } : nil
        let rest = end ?? authority.lastIndex(of: ":") ?? authority.endIndex
        return authority[..<rest].lowercased()
    }

    /// An origin is a scheme and an authority (RFC 6454, section 6.2).
    private static func isOwn(_ origin: String, _ authority: String) -> Bool {
        origin.lowercased() == "http://\(authority.lowercased())"
    }
}
