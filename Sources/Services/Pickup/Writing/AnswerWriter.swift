import NIOCore
import NIOHTTPTypes

/// Writes the parts of an answer that is a stream.
struct AnswerWriter: Sendable {
    /// The client's connection.
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
