import HTTPTypes
import NIOCore
import NIOHTTP1

/// The demands of an HTTP/1 request's head on the connection (RFC 9110, RFC 9112). A value.
struct RequestHead: Sendable, Equatable {
    /// The longest body for which the gateway confirms an expectation, in bytes.
    static let bodyLimit = 64 << 10

    enum Fault: Sendable, Equatable {
        /// The request has no `Host` field or several, or its value is no host (RFC 9112, section 3.2).
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
        /// The request line is too long (RFC 9110, section 15.5.15).
        case longTarget
        /// The method is none that HTTP's registry has, or would make the connection a tunnel (RFC 9110, section 9.1).
        case method
        /// The bytes are no request.
        case malformed

        var problem: Problem {
            switch self {
            case .host:
                Problem(
                    .badRequest, "invalid_request", "a request has exactly one Host field, with the host that it is for"
                )
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
            case .longTarget:
                Problem(
                    HTTPResponse.Status(code: 414, reasonPhrase: "URI Too Long"), "target_too_long",
                    "the request line has at most 8,192 bytes")
            case .method: Problem(.notImplemented, "unknown_method", "the gateway does not know this method")
            case .malformed: Problem(.badRequest, "invalid_request", "this is no HTTP request")
            }
        }

        /// The longest request line, in bytes, where the head is too large.
        private static let longestLine = 8 << 10

        init(_ error: HTTPParserError, in lines: RequestLines) {
            if lines.isPreface { self = .version; return }
            switch error {
            case .headerOverflow: self = lines.firstLength > Self.longestLine ? .longTarget : .tooLarge
            // The decoder takes a line feed after the version for a part of it.
            case .invalidVersion: self = lines.hasBareLineFeed ? .malformed : .version
            case .invalidMethod: self = lines.hasRequestLine ? .method : .malformed
            default: self = .malformed
            }
        }
    }

    /// The reason why the request is not served; nil where it is.
    let fault: Fault?
    /// Removes the white space around every field's value, which the decoder leaves at the end (RFC 9112, section 5.1):
    /// all further readers see the same value.
    static func trim(_ head: inout HTTPRequestHead) {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard head.headers.contains(where: { $0.value.utf8.last.map(isSpace) ?? false }) else { return }
        head.headers = HTTPHeaders(
            head.headers.map { field in
                let bytes = field.value.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
                return (field.name, String(decoding: bytes, as: UTF8.self))
            })
    }

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

    /// Returns whether `value` is a host with or without a port (RFC 3986, section 3.2.2).
    private static func isHost(_ value: String) -> Bool {
        let bytes = Array(value.utf8)
        let port = bytes.lastIndex(of: UInt8(ascii: ":"))
        let isLiteral = bytes.first == UInt8(ascii: "[")
        let end = isLiteral ? bytes.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? 0 : port ?? bytes.count
        guard end > 0, end == bytes.count || bytes[end] == UInt8(ascii: ":") else { return false }
        let name = isLiteral ? bytes[1..<(end - 1)] : bytes[..<end]
        let isName = name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            case UInt8(ascii: ":"): isLiteral
            default: "-._~%!$&'()*+,;=".utf8.contains(byte)
            }
        }
        return !name.isEmpty && isName && bytes[end...].dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }

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
        let lengths = head.headers["content-length"]
        let length = lengths.first.flatMap(Self.length)
        if head.method == .CONNECT {
            fault = .method
        } else if isOld ? hosts > 1 : hosts != 1 {
            fault = .host
        } else if let host = head.headers.first(name: "host"), !Self.isHost(host) {
            fault = .host
        } else if !lengths.isEmpty, lengths.count > 1 || length == nil {
            fault = .framing
        } else if isCoded, isOld || length != nil || codings.firstIndex(of: "chunked") != codings.count - 1 {
            fault = .framing
        } else if codings.count > 1 {
            fault = .coding
        } else {
            fault = isOld || expectations.isEmpty || expectsContinue ? nil : .expectation
        }
        bodyLength = isCoded ? nil : length ?? 0
        isBodyWelcome = length.map { $0 <= Self.bodyLimit } ?? true
    }

    /// Returns the number of bytes that a `Content-Length` states; nil for anything but digits.
    private static func length(_ value: String) -> Int? {
        value.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(value) : nil
    }
}
