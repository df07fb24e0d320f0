/// The reason for an exchange without an answer. It names the host, and nothing else of the request or the answer: no path, no
/// header, no byte of a body, no error's own words, into which some libraries put headers and URLs.
package struct TransportError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason.
    package enum Reason: Sendable, Equatable {
        /// The caller's task was canceled, or the transport closed.
        case canceled
        /// The time limit is over.
        case overdue(Duration)
        /// There was no connection within the time for it.
        case unconnected
        /// The connection closed before the answer.
        case cutOff
        /// The operating system refused, or the library, for this reason.
        case failed(String)
        /// The operating system or the library refused, for this reason.
        case untrusted
        /// The certificate is another host's.
        case foreignCertificate
        /// Client and server have no version of TLS in common.
        case noCommonTLS
        /// The request's URL is invalid.
        case badURL
        /// The answer is a redirect, which is not followed.
        case redirected(status: Int)
        /// The answer's body has a content coding.
        case encoded(status: Int)
        /// The answer's body has more bytes than allowed.
        case tooLong(status: Int, limit: Int)
        /// The answer is not HTTP.
        case notHTTP
    }

    /// The remedy's kind.
    package enum Kind: Sendable {
        /// The server does not work or cannot be reached.
        case unavailable
        /// An operator must change the configuration, on either side.
        case misconfigured
        /// The answer cannot be used.
        case unreadable
    }

    /// The host and, where it is not the usual one, the port.
    package let host: String
    /// The reason.
    package let reason: Reason

    /// An error about `host`.
    package init(_ host: String, _ reason: Reason) {
        self.host = host
        self.reason = reason
    }

    /// The remedy's kind.
    package var kind: Kind {
        switch reason {
        case .canceled, .overdue, .unconnected, .cutOff, .failed: .unavailable
        case .untrusted, .foreignCertificate, .noCommonTLS, .badURL, .redirected: .misconfigured
        case .encoded, .tooLong, .notHTTP: .unreadable
        }
    }

    /// The host, the failure, and the remedy where there is one, in one line.
    package var description: String { "\(host): \(text)" }

    private var text: String {
        switch reason {
        case .canceled: "the request was canceled"
        case .overdue(let limit): "no answer within \(Self.text(limit))"
        case .unconnected: "no connection in time"
        case .cutOff: "the connection was closed before the answer was whole"
        case .failed(let text): text
        case .untrusted:
            "its certificate is refused: it has expired, or its authority is unknown; name a private authority with "
                + "certificate_authority, or add it to the system's"
        case .foreignCertificate: "its certificate is for another host; correct the endpoint or the certificate"
        case .noCommonTLS: "no agreement on TLS; the endpoint must speak TLS 1.2 or later"
        case .badURL: "the request's URL is not valid"
        case .redirected(let status):
            "it answers with status \(status), a redirect, which is not followed; correct the endpoint"
        case .encoded(let status):
            "status \(status) with an encoded body, although identity was asked for; turn compression off there"
        case .tooLong(let status, let limit): "status \(status) with a body of more than \(limit) bytes"
        case .notHTTP: "the answer is not HTTP"
        }
    }

    private static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return attoseconds == 0 ? "\(seconds) s" : "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000) ms"
    }
}
