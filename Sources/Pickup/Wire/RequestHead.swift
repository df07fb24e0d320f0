import HTTPTypes
import NIOCore
import NIOHTTP1

/// The demands of an HTTP/1 request's head on the connection (RFC 9110, RFC 9112). A value.
struct RequestHead: Sendable, Equatable {
    /// The longest body for which the gateway confirms an expectation, in bytes.
    static let bodyLimit = 64 << 10

    /// The fault of a request that is not served.
    enum Fault: Sendable, Equatable {
        /// The request has no `Host` field or several (RFC 9112, section 3.2).
        case host
        /// The expectation is not `100-continue` (RFC 9110, section 10.1.1).
        case expectation
        /// The gateway does not serve the HTTP version (RFC 9110, section 15.6.6).
        case version
        /// The gateway does not know the transfer coding (RFC 9112, section 6.1).
        case coding
        /// The transfer coding leaves the body's end open: `chunked` is not the last one, there is a `Content-Length`
        /// beside it, or the client uses HTTP/1.0 (RFC 9112, sections 6.1 and 6.3).
        case framing
        /// The header fields are too large in all (RFC 6585, section 5).
        case tooLarge
        /// The bytes are no request.
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
            case .coding:
                Problem(.notImplemented, "unsupported_coding", "of transfer codings, chunked alone is read")
            case .framing:
                Problem(
                    .badRequest, "invalid_request",
                    "the end of the body is unclear: send a Content-Length, or Transfer-Encoding: chunked alone")
            case .tooLarge:
                Problem(
                    .requestHeaderFieldsTooLarge, "header_too_large",
                    "the request line and the header fields have at most 16,384 bytes and 100 fields")
            case .malformed: Problem(.badRequest, "invalid_request", "this is no HTTP request")
            }
        }

        /// The fault for an error of the decoder.
        init(_ error: HTTPParserError) {
            switch error {
            case .headerOverflow: self = .tooLarge
            case .invalidVersion: self = .version
            default: self = .malformed
            }
        }
    }

    /// The reason why the request is not served; nil where it is.
    let fault: Fault?
    /// Whether only the answer's head is sent.
    let isHead: Bool
    /// Whether the client uses HTTP/1.0 and knows no chunks.
    let isOld: Bool
    /// Whether the connection serves another request after this one.
    let keepsAlive: Bool
    /// Whether the client waits for `100 Continue` before it sends the body.
    let expectsContinue: Bool
    /// Whether the gateway would read the body that the client announces.
    let isBodyWelcome: Bool

    /// The length of the body, in bytes; nil for a chunked one.
    let bodyLength: Int?

    /// The demands of `head`.
    init(_ head: HTTPRequestHead) {
        isHead = head.method == .HEAD
        isOld = head.version.minor == 0
        // The decoder reads nothing after a request to upgrade. The gateway answers it as a plain request: Java's
        // client sends one first.
        keepsAlive = head.isKeepAlive && !head.headers.contains(name: "upgrade")
        let hosts = head.headers["host"].count
        let expectations = head.headers[canonicalForm: "expect"].map { $0.lowercased() }
        // HTTP/1.0 knows no expectations, and a server ignores them.
        expectsContinue = !isOld && expectations == ["100-continue"]
        let codings = head.headers[canonicalForm: "transfer-encoding"].map { $0.lowercased() }
        let isCoded = head.headers.contains(name: "transfer-encoding")
        let length = head.headers.first(name: "content-length")
        if isOld ? hosts > 1 : hosts != 1 {
            fault = .host
        } else if isCoded, isOld || length != nil || codings.firstIndex(of: "chunked") != codings.count - 1 {
            fault = .framing
        } else if codings.count > 1 {
            fault = .coding
        } else {
            fault = isOld || expectations.isEmpty || expectsContinue ? nil : .expectation
        }
        bodyLength = isCoded ? nil : length.flatMap { Int($0) } ?? 0
        isBodyWelcome = head.headers.first(name: "content-length").map { Int($0) ?? .max <= Self.bodyLimit } ?? true
    }
}
