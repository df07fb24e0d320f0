package import AsyncHTTPClient
package import Logging
import NIOCore
import NIOPosix
package import NIOSSL

extension HTTPClient {
    /// A client for requests that carry secrets: it verifies certificates, speaks HTTP/1.1 over TLS 1.2 or later, follows no redirect,
    /// tries nothing again, and neither logs nor traces. Whoever makes it must shut it down.
    ///
    /// - Parameters:
    ///   - authorities: what certificates are checked against; nil for the system's.
    ///   - patience: how long a connection may take to be there.
    package static func strict(
        authorities: [NIOSSLCertificate]?, patience: Duration, pool: Configuration.ConnectionPool = .init()
    ) -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        tls.trustRoots = authorities.map { .certificates($0) } ?? .default
        var configuration = Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(patience)),
            connectionPool: pool, proxy: nil, decompression: .disabled)
        configuration.httpVersion = .http1Only
        // Whoever asked tries again, and knows better when.
        configuration.connectionPool.retryConnectionEstablishment = false
        // A trace would hold the request's URL, and with it the user.
        configuration.tracing.tracer = nil
        return HTTPClient(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration,
            backgroundActivityLogger: silence)
    }

    /// The client logs requests with their headers; here it logs nowhere.
    package static let silence = Logger(label: "remint.http") { _ in SwiftLogNoOpLogHandler() }

    /// The certificates in the PEM file `path`, of which there is at least one.
    ///
    /// - Throws: `EndpointError`.
    package static func authorities(in path: String) throws(EndpointError) -> [NIOSSLCertificate] {
        let found = (try? NIOSSLCertificate.fromPEMFile(path)) ?? []
        guard !found.isEmpty else {
            throw EndpointError("certificate_authority: there is no certificate in PEM form in \(path)")
        }
        return found
    }
}
