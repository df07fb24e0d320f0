import AdapterKit
import Hummingbird
import JOSE
import NIOCore
import WorkerConfiguration

/// Keeps browsers and strangers away from the admin server.
///
/// A page that is open in a browser beside the server must not be able to call it. The guard stops it by `Host`, which
/// does not match for a name that was later bound to this address, and by `Origin` and `Sec-Fetch-Site`, which every
/// browser sends. A link to the server's own page may be followed from anywhere. Where there is a token, everything
/// requires it but the probes and the pages, which hold no figures.
struct AdminGuard: RouterMiddleware {
    typealias Context = BasicRequestContext

    /// Names by which this machine calls itself.
    private static let loopback: Set<String> = ["localhost", "127.0.0.1", "[::1]", "::1"]

    private let hosts: Set<String>
    private let token: SecretBytes?
    private let scheme: String

    init(_ admin: Configuration.Admin, token: SecretBytes?, isEncrypted: Bool) {
        scheme = isEncrypted ? "https" : "http"
        hosts = Self.loopback.union(admin.hosts.map { $0.lowercased() }).union([
            admin.host.lowercased(), "[\(admin.host)]",
        ])
        self.token = token
    }

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let authority = request.head.authority, isOwn(host: Self.host(of: authority)) else {
            return AdminServer.problem(.misdirectedRequest, "this host name is not the admin server's; see admin.hosts")
        }
        if let origin = request.headers[.origin], !isOwn(origin, authority) {
            return AdminServer.problem(.forbidden, "the admin server answers no other page")
        }
        if !isOfOwnPage(request), !isOpeningPage(request) {
            return AdminServer.problem(.forbidden, "the admin server answers no other page")
        }
        guard Self.isForEverybody(request.uri.path) || isAuthorized(request) else {
            var refusal = AdminServer.problem(.unauthorized, "the admin server asks for the token of admin.token_file")
            refusal.headers[.wwwAuthenticate] = "Bearer"
            return refusal
        }
        return try await next(request, context)
    }

    /// Returns whether `host` is a name of this server or an IP address. A stranger can bind only a name to this address.
    private func isOwn(host: String) -> Bool {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        return hosts.contains(host) || IPAddress(isBracketed ? String(host.dropFirst().dropLast()) : host) != nil
    }

    /// Returns whether the request is not from a page of another site (W3C Fetch Metadata).
    private func isOfOwnPage(_ request: Request) -> Bool {
        guard let site = Self.metadata("site", of: request) else { return true }
        return site == "same-origin" || site == "none"
    }

    /// Returns whether the request follows a link to the page, in a window of its own.
    private func isOpeningPage(_ request: Request) -> Bool {
        request.method == .get && request.uri.path == "/" && Self.metadata("mode", of: request) == "navigate"
            && Self.metadata("dest", of: request) == "document"
    }

    private static func metadata(_ name: String, of request: Request) -> String? {
        request.headers.first { $0.name.canonicalName == "sec-fetch-\(name)" }?.value
    }

    private static func isForEverybody(_ path: String) -> Bool {
        path == "/" || path == "/codes" || path.hasPrefix("/health/")
    }

    private func isAuthorized(_ request: Request) -> Bool {
        guard let token else { return true }
        guard let text = request.headers[.authorization], text.prefix(7).lowercased() == "bearer " else { return false }
        return token.equals(SecretBytes(copying: text.dropFirst(7).utf8))
    }

    /// Returns the host without its port, in lower case.
    private static func host(of authority: String) -> String {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]").map { authority.index(after: $0) } : nil
        let rest = end ?? authority.lastIndex(of: ":") ?? authority.endIndex
        return authority[..<rest].lowercased()
    }

    /// Returns whether `origin` is the server's own. An origin is a scheme and an authority (RFC 6454, section 6.2).
    private func isOwn(_ origin: String, _ authority: String) -> Bool {
        origin.lowercased() == "\(scheme)://\(authority.lowercased())"
    }
}
