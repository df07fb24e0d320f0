package import AdapterKit
import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// What keeps a request from having an answer, in words for an operator.
///
/// An error's own words are never repeated: some libraries put headers and URLs into them.
package struct LookupErrorText: Sendable {
    let host: String
    let timeout: Duration

    package init(host: String, timeout: Duration) {
        self.host = host
        self.timeout = timeout
    }

    /// The time limit is over.
    var overdue: LookupFailure { unavailable("no answer within \(Self.text(timeout))") }
    /// The worker ends.
    static let stopping = LookupFailure(.unavailable, "the worker stops")

    /// What `error` means, which is no more than that there is no answer: nothing of it is about a user.
    package func failure(_ error: any Error) -> LookupFailure {
        switch error {
        case is CancellationError: Self.stopping
        case let error as HTTPClientError: failure(of: error)
        case let error as NIOSSLError: failure(of: error)
        case is NIOSSLExtraError:
            misconfigured("its certificate is for another host; correct the endpoint or the certificate")
        case HTTPParserError.invalidEOFState: cutOff
        case is HTTPParserError, is NIOHTTPDecoderError:
            LookupFailure(.unreadable, "\(host): the answer is not HTTP")
        case let error as NIOConnectionError: failure(of: error)
        case let error as IOError: failure(errno: error.errnoCode)
        case ChannelError.connectTimeout: unavailable("no connection in time")
        case is ChannelError: cutOff
        // The kind of an error is a name in its library's source, never its content.
        default: unavailable("the request failed: \(type(of: error))")
        }
    }

    /// What `error` means, in a line.
    package func text(of error: any Error) -> String { failure(error).detail }

    private func failure(of error: HTTPClientError) -> LookupFailure {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout: unavailable("no connection in time")
        case .deadlineExceeded, .readTimeout, .writeTimeout: overdue
        case .remoteConnectionClosed, .uncleanShutdown: cutOff
        case .cancelled, .alreadyShutdown: Self.stopping
        default: unavailable("the request failed: \(error.shortDescription)")
        }
    }

    private func failure(of error: NIOSSLError) -> LookupFailure {
        switch error {
        case .handshakeFailed(.sslError(let stack)):
            if stack.contains(where: { $0.description.contains("CERTIFICATE_VERIFY_FAILED") }) {
                return misconfigured(
                    "its certificate is refused: it has expired, or nobody knows who signed it; a private authority is "
                        + "named with certificate_authority")
            }
            if stack.contains(where: { $0 == .eofDuringHandshake }) { return cutOff }
            return misconfigured("no agreement on TLS; the endpoint must speak TLS 1.2 or later")
        case .unableToValidateCertificate, .noCertificateToValidate, .cannotFindPeerIP:
            return misconfigured("its certificate is for another host; correct the endpoint or the certificate")
        default: return cutOff
        }
    }

    private func failure(of error: NIOConnectionError) -> LookupFailure {
        guard let last = error.connectionErrors.last else { return unavailable("the host's name is not known") }
        return failure(last.error)
    }

    private func failure(errno code: CInt) -> LookupFailure {
        switch code {
        case ECONNREFUSED: unavailable("the connection is refused")
        case ECONNRESET, EPIPE: cutOff
        case ETIMEDOUT: unavailable("no connection in time")
        case ENETUNREACH, EHOSTUNREACH: unavailable("there is no way to the host")
        default: unavailable("the connection failed with error \(code)")
        }
    }

    private var cutOff: LookupFailure { unavailable("the connection was closed before the answer was whole") }
    private func unavailable(_ text: String) -> LookupFailure { LookupFailure(.unavailable, "\(host): \(text)") }
    private func misconfigured(_ text: String) -> LookupFailure { LookupFailure(.misconfigured, "\(host): \(text)") }

    private static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return attoseconds == 0 ? "\(seconds) s" : "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000) ms"
    }
}
