import Hummingbird
import NIOCore
import NIOHTTP1

/// What the head of an HTTP/1 request asks of the connection (RFC 9110, RFC 9112). A value.
struct RequestHead: Sendable, Equatable {
    /// The longest body that an expectation is confirmed for, in bytes.
    static let bodyLimit = 64 << 10

    /// A head that is not served.
    enum Fault: Sendable, Equatable {
        /// No or several `Host` fields (RFC 9112, section 3.2).
        case host
        /// An expectation that is not `100-continue` (RFC 9110, section 10.1.1).
        case expectation
        /// An HTTP version that is not served (RFC 9110, section 15.6.6).
        case version
        /// Header fields that are too large in all (RFC 6585, section 5).
        case tooLarge
        /// Bytes that are no request.
        case malformed

        /// The answer.
        var problem: Problem {
            switch self {
            case .host: Problem(.badRequest, "invalid_request", "a request has exactly one Host field")
            case .expectation:
                Problem(.expectationFailed, "invalid_request", "of expectations, 100-continue alone is met")
            case .version:
                Problem(
                    HTTPResponse.Status(code: 505, reasonPhrase: "HTTP Version Not Supported"), "invalid_request",
                    "the gateway speaks HTTP/1.1")
            case .tooLarge:
                Problem(
                    .requestHeaderFieldsTooLarge, "header_too_large",
                    "the request line and the header fields have at most 16,384 bytes and 100 fields")
            case .malformed: Problem(.badRequest, "invalid_request", "this is no HTTP request")
            }
        }

        /// The fault that an error of the decoder is.
        init(_ error: HTTPParserError) {
            switch error {
            case .headerOverflow: self = .tooLarge
            case .invalidVersion: self = .version
            default: self = .malformed
            }
        }
    }

    /// Why the request is not served; nil where it is.
    let fault: Fault?
    /// Whether only the answer's head is sent.
    let isHead: Bool
    /// Whether the client is of HTTP/1.0 and knows no chunks.
    let isOld: Bool
    /// Whether the connection serves another request after this one.
    let keepsAlive: Bool
    /// Whether the client waits for `100 Continue` before it sends the body.
    let expectsContinue: Bool
    /// Whether the body that the client announces is worth sending.
    let isBodyWelcome: Bool

    /// What `head` asks.
    init(_ head: HTTPRequestHead) {
        isHead = head.method == .HEAD
        isOld = head.version.minor == 0
        // The decoder reads nothing after a request to upgrade, which the gateway answers as if it had not been asked: Java's
        // client asks so with its first request.
        keepsAlive = head.isKeepAlive && !head.headers.contains(name: "upgrade")
        let hosts = head.headers["host"].count
        let expectations = head.headers[canonicalForm: "expect"].map { $0.lowercased() }
        // HTTP/1.0 knows no expectations, and a server ignores them.
        expectsContinue = !isOld && expectations == ["100-continue"]
        if isOld ? hosts > 1 : hosts != 1 {
            fault = .host
        } else {
            fault = isOld || expectations.isEmpty || expectsContinue ? nil : .expectation
        }
        isBodyWelcome = head.headers.first(name: "content-length").map { Int($0) ?? .max <= Self.bodyLimit } ?? true
    }
}
