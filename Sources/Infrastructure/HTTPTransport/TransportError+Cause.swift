import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension TransportError.Reason {
    /// The meaning of a library's error.
    ///
    /// - Parameter limit: the time of the exchange.
    init(_ error: any Error, limit: Duration) {
        switch error {
        case is CancellationError: self = .canceled
        case let error as HTTPClientError: self = Self.reason(of: error, limit)
        case let error as NIOSSLError: self = Self.reason(of: error)
        case is NIOSSLExtraError: self = .foreignCertificate
        case HTTPParserError.invalidEOFState: self = .cutOff
        case is HTTPParserError, is NIOHTTPDecoderError: self = .notHTTP
        case let error as NIOConnectionError:
            self =
                error.connectionErrors.last.map { Self($0.error, limit: limit) }
                ?? .failed("the host's name is not known")
        case let error as IOError: self = Self.reason(errno: error.errnoCode)
        case ChannelError.connectTimeout: self = .unconnected
        case is ChannelError: self = .cutOff
        // The kind of an error is a name in its library's source, never its content.
        default: self = .failed("the request failed: \(type(of: error))")
        }
    }

    private static func reason(of error: HTTPClientError, _ limit: Duration) -> Self {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout: .unconnected
        case .deadlineExceeded, .readTimeout, .writeTimeout: .overdue(limit)
        case .remoteConnectionClosed, .uncleanShutdown: .cutOff
        case .cancelled, .alreadyShutdown: .canceled
        case .invalidURL, .emptyHost, .emptyScheme: .badURL
        default: .failed("the request failed: \(error.shortDescription)")
        }
    }

    private static func reason(of error: NIOSSLError) -> Self {
        switch error {
        case .handshakeFailed(.sslError(let stack)):
            if stack.contains(where: { $0.description.contains("CERTIFICATE_VERIFY_FAILED") }) { return .untrusted }
            return stack.contains { $0 == .eofDuringHandshake } ? .cutOff : .noCommonTLS
        case .unableToValidateCertificate, .noCertificateToValidate, .cannotFindPeerIP: return .foreignCertificate
        default: return .cutOff
        }
    }

    private static func reason(errno code: CInt) -> Self {
        switch code {
        case ECONNREFUSED: .failed("the connection is refused")
        case ECONNRESET, EPIPE: .cutOff
        case ETIMEDOUT: .unconnected
        case ENETUNREACH, EHOSTUNREACH: .failed("there is no way to the host")
        default: .failed("the connection failed with error \(code)")
        }
    }
}
