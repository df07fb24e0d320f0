import NIOCore
import Testing

@testable import Pickup

/// The order in which bytes of a connection are decoded.
@Suite struct RequestTurnsTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    /// The bytes that may be decoded now, in its pieces.
    private func pieces(_ turns: inout RequestTurns) -> [String] {
        var pieces: [String] = []
        while let piece = turns.next() { pieces.append(String(buffer: piece)) }
        return pieces
    }

    @Test(arguments: 1...60)
    func `a request ends where it ends, however its bytes come`(size: Int) {
        var turns = RequestTurns()
        let bytes = Array("POST / HTTP/1.1\r\n\r\n{\r\n\r\n}\(Self.get)".utf8)
        var (heads, bodies) = ("", "")
        var isBody = false
        for start in stride(from: 0, to: bytes.count, by: size) {
            turns.receive(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
            while let piece = turns.next() {
                if isBody {
                    bodies += String(buffer: piece)
                    guard bodies.utf8.count == 6 else { continue }
                    turns.ended()
                } else {
                    heads += String(buffer: piece)
                    guard heads.hasSuffix("\r\n\r\n") else { continue }
                    turns.began(bodyLength: 6)
                    isBody = true
                }
            }
        }
        #expect(heads == "POST / HTTP/1.1\r\n\r\n" && bodies == "{\r\n\r\n}")
        turns.answered()
        #expect(pieces(&turns).joined() == Self.get && turns.count == 0)
    }

    @Test(arguments: [false, true])
    func `the next request waits for the end and for the answer, whichever comes last`(isAnsweredFirst: Bool) {
        var turns = RequestTurns()
        turns.receive(ByteBuffer(string: "POST / HTTP/1.1\r\n\r\n{}" + Self.get))
        #expect(turns.next().map { String(buffer: $0) } == "POST / HTTP/1.1\r\n\r\n")
        turns.began(bodyLength: 2)
        if isAnsweredFirst { turns.answered() }
        #expect(turns.next().map { String(buffer: $0) } == "{}")
        turns.ended()
        if !isAnsweredFirst {
            #expect(turns.next() == nil)
            turns.answered()
        }
        #expect(pieces(&turns) == [Self.get])
    }

    @Test func `a request that has begun is read on of a client that does not read, and the next is not`() {
        var turns = RequestTurns()
        turns.receive(ByteBuffer(string: "POST / HTTP/1.1\r\n\r\n{}" + Self.get))
        _ = turns.next()
        turns.began(bodyLength: 2)
        turns.isWritable = false
        #expect(turns.next().map { String(buffer: $0) } == "{}")
        turns.ended()
        turns.answered()
        #expect(turns.next() == nil && !turns.wantsBytes)
        turns.isWritable = true
        #expect(pieces(&turns) == [Self.get])
        #expect(turns.wantsBytes)
    }

    @Test func `nothing is kept of a connection that ends`() {
        var turns = RequestTurns()
        turns.receive(ByteBuffer(string: Self.get))
        turns.end()
        turns.receive(ByteBuffer(string: Self.get))
        #expect(turns.count == 0 && turns.next() == nil)
        #expect(turns.wantsBytes, "what comes is read and dropped")
    }
}
