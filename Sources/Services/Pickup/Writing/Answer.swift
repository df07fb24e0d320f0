import HTTPTypes
import NIOCore

/// An answer to a call, before it is written to a connection.
struct Answer: Sendable {
    /// The bytes after the head.
    enum Body: Sendable {
        case bytes(ByteBuffer)
        /// Parts that are written one after the other. The answer ends when the closure returns.
        case stream(@Sendable (AnswerWriter) async throws -> Void)
    }

    let status: HTTPResponse.Status
    var headers: HTTPFields
    let body: Body

    /// An answer with a known body.
    init(_ status: HTTPResponse.Status, _ headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.headers = headers
        self.body = .bytes(body)
        self.headers[.contentLength] = "\(body.readableBytes)"
    }

    /// An answer without a length.
    init(
        _ status: HTTPResponse.Status, _ headers: HTTPFields,
        stream: @escaping @Sendable (AnswerWriter) async throws -> Void
    ) {
        self.status = status
        self.headers = headers
        body = .stream(stream)
    }
}
