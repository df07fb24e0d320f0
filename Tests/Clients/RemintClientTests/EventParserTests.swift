import RemintClient
import Testing

/// Server-sent events in the form that the gateway sends.
@Suite struct EventParserTests {
    private static let text =
        "retry: 2500\nevent: ready\ndata: {\"after\":1}\n\n: heartbeat\n\nid: 7\r\nevent: token\r\ndata: {\"ä\":1}\r\n\r\n"
        + "data: a\ndata:b\n\nevent: lost\n\nevent: cut\ndata: x"

    @Test(arguments: 0...180) func `a stream that is cut anywhere has the same events`(_ place: Int) throws {
        let bytes = Array(Self.text.utf8)
        var parser = EventParser()
        let cut = min(place, bytes.count)
        let events = try parser.read(bytes[..<cut]) + parser.read(bytes[cut...])
        #expect(
            events == [
                .init(name: "ready", data: #"{"after":1}"#), .init(name: "token", data: #"{"ä":1}"#),
                .init(name: "", data: "a\nb"),
            ])
        #expect(parser.retry == 2.5)
    }

    @Test func `a line without an end is refused`() throws {
        var parser = EventParser()
        _ = try parser.read(Array(repeating: 0x61, count: 1 << 20))
        #expect(throws: EventParser.LineTooLong.self) { try parser.read([0x61]) }
    }
}
