import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import Pickup

/// Calls that wait on their connection.
@Suite struct HeldCallTests {
    private let calls = HeldCalls()
    private let channel = NIOAsyncTestingChannel()

    init() async throws {
        let calls = calls
        try await channel.testingEventLoop.submit { [channel] in
            try channel.pipeline.syncOperations.addHandler(HeldCallHandler(calls))
        }.get()
        try await channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    }

    /// What the framework writes for the mark of `call`.
    private func write(_ call: HeldCall) async throws {
        let mark = calls.mark(call)
        try await channel.writeOutbound(HTTPResponsePart.head(mark.head))
        try await channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    private static func response(_ text: String) -> Response {
        Response(status: .created, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private func next() async throws -> HTTPResponsePart {
        try await channel.waitForOutboundWrite(as: HTTPResponsePart.self)
    }

    private func expectAnswer(_ text: String) async throws {
        guard case .head(let head) = try await next(), case .body(let body) = try await next(),
            case .end = try await next()
        else { Issue.record("no answer"); return }
        #expect(head.status == .created && head.headerFields[.contentLength] == "\(text.utf8.count)")
        #expect(String(buffer: body) == text)
        #expect(head.headerFields.allSatisfy { !$0.name.rawName.lowercased().contains("held") })
    }

    @Test(arguments: [false, true])
    func `a call is answered on its connection, whether its answer comes before or after it`(isEarly: Bool) async throws
    {
        let call = calls.call()
        if isEarly { call.answer(Self.response("token")) }
        try await write(call)
        if !isEarly { call.answer(Self.response("token")) }
        call.answer(Self.response("another"))
        try await expectAnswer("token")
        // The next call of the connection is answered as any other.
        try await channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .noContent)))
        guard case .head(let head) = try await next() else { Issue.record("no head"); return }
        #expect(head.status == .noContent)
    }

    @Test func `a call whose device left before it was held is forgotten, and the connection ends`() async throws {
        do {
            let call = calls.call()
            let mark = calls.mark(call)
            try await channel.close().get()
            await #expect(throws: (any Error).self) {
                try await channel.writeOutbound(HTTPResponsePart.head(mark.head))
            }
            call.answer(Self.response("token"))
        }
        #expect(calls.count == 0)
    }

    @Test func `the closing of a connection waits for the answer`() async throws {
        let call = calls.call()
        try await write(call)
        let closing = channel.testingEventLoop.makePromise(of: Void.self)
        channel.close(mode: .all, promise: closing)
        #expect(channel.isActive)
        call.answer(Self.response("token"))
        try await expectAnswer("token")
        try await closing.futureResult.get()
        #expect(!channel.isActive)
    }

    @Test func `a device that leaves ends nothing but its own call`() async throws {
        let call = calls.call()
        try await write(call)
        try await channel.testingEventLoop.submit { [channel] in channel.pipeline.fireChannelInactive() }.get()
        call.answer(Self.response("token"))
        #expect(try await channel.readOutbound(as: HTTPResponsePart.self) == nil)
    }
}
