import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import Pickup

/// A connection whose requests a test answers.
struct WireConnection {
    let channel = EmbeddedChannel()
    let gate: RequestGate

    init(
        isStopping: Bool = false, refused: @escaping @Sendable (Int) -> Void = { _ in },
        overflowed: @escaping @Sendable () -> Void = {}
    ) throws {
        gate = RequestGate(overflowed: overflowed)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(HTTPResponseEncoder())
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderListSize = 1000
        limits.maxHeaderFieldSize = 1000
        try pipeline.addHandler(gate)
        try pipeline.addHandler(
            ByteToMessageHandler(
                HTTPRequestDecoder(
                    leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop,
                    limitConfiguration: limits)))
        try pipeline.addHandler(
            HTTP1Rules(
                gate, isStopping: { isStopping }, date: { "Thu, 01 Jan 1970 00:00:00 GMT" }, refused: refused))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func send(_ lines: String...) throws {
        try channel.writeInbound(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
    }

    /// The heads that came through.
    func heads() throws -> [HTTPRequestHead] {
        var heads: [HTTPRequestHead] = []
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            if case .head(let head) = part { heads.append(head) }
        }
        return heads
    }

    /// The responder wants the body of the request.
    func wantBody() { channel.pipeline.triggerUserOutboundEvent(HTTP1Rules.BodyWanted(), promise: nil) }

    func setWritable(_ isWritable: Bool) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }

    func answer(_ body: String, headers: HTTPHeaders = [:]) throws {
        try channel.writeOutbound(
            HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)))
        try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: body))))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }

    /// The bytes that the client has got.
    func bytes() throws -> String {
        var text = ""
        while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
        return text.lowercased()
    }
}
