import NIOCore
import NIOPosix
import NIOSSL

/// A connection as bytes, so that nothing of a client's politeness stands between a test and the wire.
struct PlainClient {
    typealias Stream = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    /// The bytes received and not yet read.
    private var rest: [UInt8] = []

    /// Runs `body` on a connection to `port`; over TLS for the host `localhost` where the authority's PEM file is given.
    static func with<Result>(
        port: Int, authority: String? = nil, _ body: (inout PlainClient) async throws -> Result
    ) async throws -> Result {
        var security: NIOSSLContext?
        if let authority {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .file(authority)
            security = try NIOSSLContext(configuration: configuration)
        }
        let stream = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { [security] channel in
                channel.eventLoop.makeCompletedFuture {
                    if let security {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: security, serverHostname: "localhost"))
                    }
                    return try Stream(wrappingChannelSynchronously: channel)
                }
            }
        return try await stream.executeThenClose { inbound, outbound in
            var client = PlainClient(outbound: outbound, inbound: inbound.makeAsyncIterator())
            return try await body(&client)
        }
    }

    func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

    /// The next bytes; nil at the end.
    mutating func next() async throws -> [UInt8]? {
        if !rest.isEmpty {
            defer { rest = [] }
            return rest
        }
        return try await inbound.next(isolation: #isolation).map { Array($0.readableBytesView) }
    }

    mutating func readToEnd() async throws -> String {
        var bytes: [UInt8] = []
        while let more = try await next() { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the bytes up to and with `end`, or all bytes if `end` does not come.
    mutating func read(through end: String) async throws -> String {
        var bytes: [UInt8] = []
        while let more = try await next() {
            bytes += more
            guard let range = bytes.firstRange(of: Array(end.utf8)) else { continue }
            rest = Array(bytes[range.upperBound...])
            return String(decoding: bytes[..<range.upperBound], as: UTF8.self)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    mutating func readAnswer() async throws -> (head: String, body: String) {
        let head = try await read(through: "\r\n\r\n")
        let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
            .flatMap { Int($0.dropFirst("content-length: ".count)) }
        var body: [UInt8] = []
        while body.count < length ?? 0, let more = try await next() { body += more }
        rest = Array(body.dropFirst(length ?? 0))
        return (head, String(decoding: body.prefix(length ?? 0), as: UTF8.self))
    }
}

func get(_ target: String = "/", headers: String = "") -> String {
    "GET \(target) HTTP/1.1\r\nhost: localhost\r\n\(headers)\r\n"
}
