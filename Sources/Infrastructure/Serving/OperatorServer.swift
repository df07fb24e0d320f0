import Formats
import Foundation
package import HTTPTypes
package import Hummingbird
import HummingbirdCore
package import JOSE
package import Logging
package import NIOCore
package import NIOSSL

/// A server for operators and monitoring: the worker's admin server and the gateway's `/metrics`.
///
/// Its connections have the deadlines of the gateway's, and give way like those. A page that is open in a browser beside
/// the server must not be able to call it: see `OperatorGuard`.
package struct OperatorServer: Sendable {
    /// The limit of a request's headers, in bytes. No monitor sends more.
    private static let headerLimit = 16 << 10
    /// The most header fields of a request: browsers and monitoring send some twenty.
    private static let headerFieldLimit = 100

    let host: String
    let port: Int
    /// Further names that requests may ask for in `Host`.
    let hosts: [String]
    /// The token that requests need; nil for none.
    let token: SecretBytes?
    /// The certificate and key of the server; nil for plain text.
    let tls: TLSConfiguration?
    let logger: Logger

    package init(
        host: String, port: Int, hosts: [String], token: SecretBytes? = nil, tls: TLSConfiguration? = nil,
        logger: Logger
    ) {
        (self.host, self.port, self.hosts, self.token, self.tls) = (host, port, hosts, token, tls)
        self.logger = logger
    }

    package var router: Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.add(middleware: OperatorGuard(self))
        return router
    }

    /// Serves `router` until the task is canceled.
    ///
    /// - Throws: The error that prevents it from listening.
    package func run(
        _ router: Router<BasicRequestContext>, onListening: @escaping @Sendable (any Channel) -> Void = { _ in }
    ) async throws {
        // An error that keeps it from listening is thrown; its other log lines concern single connections.
        var quiet = logger
        quiet.logLevel = .critical
        let connections = OpenConnections(most: OpenFiles.operators)
        let handlers = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionGuard(among: connections, kind: Self.kind) { _ in }],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: Self.headerLimit, maxHeaderListSize: Self.headerLimit,
                maxHeaderFieldCount: Self.headerFieldLimit))
        let application = Application(
            router: router, server: .arrivals(handlers, tls: tls),
            configuration: .init(
                address: .hostname(host, port: port),
                // Those above the limit are closed at once, which takes a moment.
                availableConnectionsDelegate: MaximumAvailableConnections(
                    OpenFiles.operators + OpenFiles.closing, logger: quiet)),
            onServerRunning: { onListening($0) }, logger: quiet)
        try await application.run()
    }

    private static func kind(of request: HTTPRequest) -> ConnectionGuard.Kind {
        request.path?.hasPrefix("/health/") == true ? .health : .call
    }

    package static func json(_ code: HTTPResponse.Status, _ body: (inout JSONWriter) -> Void) -> Response {
        var json = JSONWriter()
        json.beginObject()
        body(&json)
        json.endObject()
        return response(code, "application/json", json.bytes + [UInt8(ascii: "\n")])
    }

    package static func problem(_ code: HTTPResponse.Status, _ message: String) -> Response {
        json(code) { $0.member("error", message) }
    }

    package static func response(_ code: HTTPResponse.Status, _ type: String, _ body: [UInt8]) -> Response {
        Response(
            status: code,
            headers: [.contentType: type, .cacheControl: "no-store", .xContentTypeOptions: "nosniff"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// Returns the answer with a process's metrics, as Prometheus reads them.
    package static func metrics(_ exposition: String) -> Response {
        response(.ok, "text/plain; version=0.0.4; charset=utf-8", Array(exposition.utf8))
    }
}

/// Keeps browsers and strangers away from a server for operators.
///
/// It stops another page by `Host`, which does not match for a name that was later bound to this address, and by
/// `Origin` and `Sec-Fetch-Site`, which every browser sends. An address in `Host` is nobody's name. A link to the
/// server's own page may be followed from anywhere. Where there is a token, everything requires it but the probes and the
/// pages, which hold no figures.
private struct OperatorGuard: RouterMiddleware {
    typealias Context = BasicRequestContext

    private let hosts: Set<String>
    private let token: SecretBytes?
    private let scheme: String

    init(_ server: OperatorServer) {
        scheme = server.tls == nil ? "http" : "https"
        hosts = Set((["localhost", server.host] + server.hosts).map { $0.lowercased() })
        token = server.token
    }

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let authority = request.head.authority, isOwn(Self.host(of: authority)) else {
            return OperatorServer.problem(.misdirectedRequest, "this host name is not the server's; see admin.hosts")
        }
        if let origin = request.headers[.origin], !isOwn(origin, authority) {
            return OperatorServer.problem(.forbidden, "the server answers no other page")
        }
        if !isOfOwnPage(request), !isOpeningPage(request) {
            return OperatorServer.problem(.forbidden, "the server answers no other page")
        }
        guard Self.isForEverybody(request.uri.path) || isAuthorized(request) else {
            var refusal = OperatorServer.problem(.unauthorized, "the server asks for the token of admin.token_file")
            refusal.headers[.wwwAuthenticate] = "Bearer"
            return refusal
        }
        return try await next(request, context)
    }

    /// Returns whether `host` names this server. No name that is an address can be bound to another one.
    private func isOwn(_ host: String) -> Bool {
        hosts.contains(host) || IPAddress(host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...]) != nil
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

extension IOError {
    /// Returns the reason why a server cannot listen, and the fix, where `key` of the configuration names the address.
    package func listeningProblem(named key: String) -> String {
        switch errnoCode {
        case EADDRINUSE: "another process listens there; stop it, or name another port in \(key)"
        case EADDRNOTAVAIL: "this machine has no such address; name one of its own in \(key)"
        case EACCES, EPERM: "this account may not; name a port above 1023 in \(key)"
        default: "\(localizedDescription); name another address in \(key)"
        }
    }
}
