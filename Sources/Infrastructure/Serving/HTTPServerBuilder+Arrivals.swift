package import HummingbirdCore
import HummingbirdTLS
package import NIOSSL

extension HTTPServerBuilder {
    /// Returns a server of HTTP/1 that loses no connection when it ends.
    ///
    /// - Parameter tls: the server's certificate and the accepted clients; nil for plain text.
    package static func arrivals(
        _ configuration: HTTP1Channel.Configuration = .init(), tls: TLSConfiguration? = nil
    ) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            let http = HTTP1Channel(responder: responder, configuration: configuration)
            guard let tls else { return ArrivalChannel(http) }
            return ArrivalChannel(try TLSChannel(http, tlsConfiguration: tls))
        }
    }
}
