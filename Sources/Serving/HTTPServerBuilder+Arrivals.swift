package import HummingbirdCore
import HummingbirdTLS
package import NIOSSL

extension HTTPServerBuilder {
    /// A server of HTTP/1, none of whose connections is lost as it ends.
    ///
    /// - Parameter tls: the certificate it shows, and what it accepts; nil for plain text.
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
