import AdapterKit
import HTTPTransport
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Synchronization

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

    init(_ status: HTTPResponse.Status, _ headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.headers = headers
        self.body = .bytes(body)
        self.headers[.contentLength] = "\(body.readableBytes)"
    }

    init(
        _ status: HTTPResponse.Status, _ headers: HTTPFields,
        stream: @escaping @Sendable (AnswerWriter) async throws -> Void
    ) {
        self.status = status
        self.headers = headers
        body = .stream(stream)
    }
}

/// The date of all answers (RFC 9110, section 6.6.1), written once a second.
final class AnswerDate: Sendable {
    private let now: @Sendable () -> UnixTime
    private let written: Mutex<(second: Int64, text: String)>

    init(now: @escaping @Sendable () -> UnixTime) {
        self.now = now
        written = Mutex((.min, ""))
    }

    /// The date of this second.
    var text: String {
        let now = now()
        return written.withLock { written in
            if written.second != now.seconds { written = (now.seconds, HTTPDate.text(now)) }
            return written.text
        }
    }
}

struct AnswerWriter: Sendable {
    let channel: any Channel

    /// Writes `part`, and waits while the client does not read the bytes before it.
    ///
    /// - Throws: the connection's error where the client is gone.
    func write(_ part: ByteBuffer) async throws {
        guard channel.isActive else { throw ChannelError.alreadyClosed }
        let part = HTTPResponsePart.body(part)
        if channel.isWritable {
            channel.writeAndFlush(part, promise: nil)
        } else {
            try await channel.writeAndFlush(part).get()
        }
    }
}
