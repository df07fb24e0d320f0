import NIOCore
import Testing

@testable import Pickup

/// Bodies that arrive in parts.
@Suite(.timeLimit(.minutes(5))) struct ArrivingBodyTests {
    @Test func `a body is read whole, whether its reader comes before its bytes or after them`() async throws {
        let body = ArrivingBody()
        body.receive(ByteBuffer(string: "{"))
        let read = Task { try await body.collect() }
        body.receive(ByteBuffer(string: "}"))
        body.end()
        body.fail(ChannelError.eof)
        #expect(String(buffer: try await read.value) == "{}")
    }

    @Test func `a request without a body has an empty one`() async throws {
        #expect(try await ArrivingBody.none.collect().readableBytes == 0)
    }

    @Test func `a body that is too long ends its reading at once, and its bytes are not kept`() async throws {
        let body = ArrivingBody(limit: 4)
        body.receive(ByteBuffer(string: "1234"))
        body.receive(ByteBuffer(string: "5"))
        await #expect(throws: NIOTooManyBytesError.self) { try await body.collect() }
        body.receive(ByteBuffer(string: "6"))
        body.end()
        await #expect(throws: NIOTooManyBytesError.self) { try await body.collect() }
    }

    @Test func `a body whose connection ends is not taken for complete`() async throws {
        let body = ArrivingBody()
        body.receive(ByteBuffer(string: "{"))
        let read = Task { try await body.collect() }
        body.fail(ChannelError.inputClosed)
        await #expect(throws: ChannelError.self) { try await read.value }
    }
}
