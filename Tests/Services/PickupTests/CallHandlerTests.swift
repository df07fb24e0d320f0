import Formats
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Synchronization
import Testing

@testable import Pickup

/// Calls on their connection: those that are answered at once, those that wait, and streams.
@Suite(.timeLimit(.minutes(5))) struct CallHandlerTests {
    /// A connection, and what its calls are answered by.
    private final class Connection: Sendable {
        let channel = NIOAsyncTestingChannel()
        let served = ServedConnections()
        /// The calls that came, with their replies.
        private let calls: AsyncStream<(request: Request, body: ArrivingBody, reply: CallHandler.Reply)>
        private let closings = Closings()

        /// The ways in which the connection was closed.
        var closed: [CloseMode] { closings.modes.withLock { $0 } }

        init() async throws {
            let (stream, more) = AsyncStream.makeStream(
                of: (request: Request, body: ArrivingBody, reply: CallHandler.Reply).self)
            calls = stream
            let (served, closings) = (served, closings)
            try await channel.testingEventLoop.submit { [channel] in
                try channel.pipeline.syncOperations.addHandlers([
                    closings.handler,
                    CallHandler(among: served, date: AnswerDate { .init(seconds: 784_111_777) }) {
                        more.yield(($0, $1, $3))
                    },
                ])
            }.get()
            try await channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        }

        /// Sends a request, and returns it as its responder has it.
        func call(
            _ fields: HTTPFields = [:]
        ) async throws -> (request: Request, body: ArrivingBody, reply: CallHandler.Reply) {
            let head = HTTPRequest(method: .get, scheme: "http", authority: "x", path: "/", headerFields: fields)
            try await channel.writeInbound(HTTPRequestPart.head(head))
            if fields.isEmpty || fields[.connection] != nil { try await channel.writeInbound(HTTPRequestPart.end(nil)) }
            var calls = calls.makeAsyncIterator()
            return try #require(await calls.next())
        }

        func next() async throws -> HTTPResponsePart {
            try await channel.waitForOutboundWrite(as: HTTPResponsePart.self)
        }

        func expectAnswer(_ text: String) async throws {
            guard case .head(let head) = try await next(), case .body(let body) = try await next(),
                case .end = try await next()
            else { Issue.record("no answer"); return }
            #expect(head.status == .created && head.headerFields[.contentLength] == "\(text.utf8.count)")
            #expect(head.headerFields[.date] == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(String(buffer: body) == text)
        }

        func fire(_ event: any Sendable) async throws {
            try await channel.testingEventLoop.submit { [channel] in
                channel.pipeline.fireUserInboundEventTriggered(event)
            }.get()
        }

        /// Waits until everything that the loop was given is done.
        func settle() async throws { try await channel.testingEventLoop.submit {}.get() }

        func hasNothingMore() async throws -> Bool {
            try await settle()
            return try await channel.readOutbound(as: HTTPResponsePart.self) == nil
        }
    }

    /// Notes how a connection is closed.
    private final class Closings: Sendable {
        let modes = Mutex<[CloseMode]>([])

        var handler: any ChannelHandler { Handler(self) }

        private final class Handler: ChannelOutboundHandler {
            typealias OutboundIn = HTTPResponsePart
            private let closings: Closings

            init(_ closings: Closings) { self.closings = closings }

            func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
                closings.modes.withLock { $0.append(mode) }
                guard mode == .all else { promise?.succeed(()); return }
                context.close(mode: mode, promise: promise)
            }
        }
    }

    private static func answer(_ text: String) -> Answer { Answer(.created, body: ByteBuffer(string: text)) }

    @Test func `a call is answered on its connection after its responder has returned, and the next one too`()
        async throws
    {
        let connection = try await Connection()
        for text in ["first", "second"] {
            try await connection.call().reply(Self.answer(text))
            try await connection.expectAnswer(text)
        }
        #expect(connection.closed.isEmpty)
    }

    @Test func `a call is answered once, and a late answer is none to the next call`() async throws {
        let connection = try await Connection()
        let first = try await connection.call()
        first.reply(Self.answer("token"))
        first.reply(Self.answer("another"))
        try await connection.expectAnswer("token")
        let second = try await connection.call()
        first.reply(Self.answer("token of somebody else"))
        #expect(try await connection.hasNothingMore())
        second.reply(Self.answer("own token"))
        try await connection.expectAnswer("own token")
    }

    @Test func `an answer for a device that left goes nowhere, and its connection is forgotten`() async throws {
        let connection = try await Connection()
        let call = try await connection.call([.contentLength: "5"])
        try await connection.channel.close().get()
        call.reply(Self.answer("token"))
        #expect(try await connection.hasNothingMore())
        await #expect(throws: ChannelError.self) { try await call.body.collect() }
        await connection.served.end()
    }

    @Test func `a client that closes its side gets the answer to its call, and then the connection ends`() async throws
    {
        let connection = try await Connection()
        let call = try await connection.call()
        try await connection.fire(ChannelEvent.inputClosed)
        #expect(connection.closed.isEmpty)
        call.reply(Self.answer("token"))
        try await connection.expectAnswer("token")
        try await connection.settle()
        #expect(connection.closed == [.output])
    }

    @Test func `a connection without a call ends as soon as its client closes its side`() async throws {
        let connection = try await Connection()
        try await connection.fire(ChannelEvent.inputClosed)
        #expect(connection.closed == [.output])
    }

    @Test func `the last call that a client announces is followed by the end of the connection`() async throws {
        let connection = try await Connection()
        try await connection.call([.connection: "close"]).reply(Self.answer("token"))
        try await connection.expectAnswer("token")
        try await connection.settle()
        #expect(connection.closed == [.output])
    }

    @Test(arguments: [false, true])
    func `a server that stops closes a connection at once, or after the answer to its call`(isCalling: Bool)
        async throws
    {
        let connection = try await Connection()
        let call = isCalling ? try await connection.call() : nil
        try await connection.fire(ChannelShouldQuiesceEvent())
        #expect(connection.closed == (isCalling ? [] : [.all]))
        call?.reply(Self.answer("token"))
        if isCalling { try await connection.expectAnswer("token") }
        await connection.served.end()
        #expect(connection.closed == [.all])
    }

    @Test func `a server whose end is canceled closes every connection, and those that still come`() async throws {
        let connection = try await Connection()
        _ = try await connection.call()
        let ending = Task { await connection.served.end() }
        ending.cancel()
        await ending.value
        #expect(connection.closed == [.all])
        let late = NIOAsyncTestingChannel()
        try await late.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        connection.served.add(late)
        try await late.closeFuture.get()
    }

    @Test(arguments: [false, true])
    func `a stream is written part by part, and one that fails closes its connection`(fails: Bool) async throws {
        let connection = try await Connection()
        let answer = Answer(.created, [:]) { writer in
            for part in ["one", "two"] { try await writer.write(ByteBuffer(string: part)) }
            if fails { throw ChannelError.inputClosed }
        }
        try await connection.call().reply(answer)
        guard case .head(let head) = try await connection.next() else { Issue.record("no head"); return }
        #expect(head.headerFields[.contentLength] == nil)
        for part in ["one", "two"] {
            guard case .body(let body) = try await connection.next() else { Issue.record("no part"); return }
            #expect(String(buffer: body) == part)
        }
        if fails {
            try await connection.channel.closeFuture.get()
        } else {
            guard case .end = try await connection.next() else { Issue.record("no end"); return }
            #expect(connection.closed.isEmpty)
        }
    }
}
