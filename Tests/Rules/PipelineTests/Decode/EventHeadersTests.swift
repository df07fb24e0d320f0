import AdapterKit
import Testing

@testable import Pipeline

/// One walk over all headers finds what a question for each of them finds.
@Suite("The headers of an event")
struct EventHeadersTests {
    private static func text(_ name: EventHeaders.Name) -> String { "\(name.text)" }

    private func agree(_ headers: [RecordHeader]) {
        let body = RecordBody(key: Array("key".utf8), value: Array("{}".utf8), headers: headers)
        let found = EventHeaders(body)
        for name in EventHeaders.Name.allCases {
            #expect(found.text(name) == body.text(Self.text(name)), "\(name)")
            #expect(found.has(name) == body.has(Self.text(name)), "\(name)")
            #expect(found.count(of: name) == body.count(of: Self.text(name)), "\(name)")
            for text in ["", "a", "ab"] {
                #expect(found.says(name, text) == body.says(Self.text(name), text), "\(name)")
            }
        }
    }

    @Test func `every header is found by its name alone`() {
        for name in EventHeaders.Name.allCases {
            agree([RecordHeader(Self.text(name), "a")])
            agree([RecordHeader(Self.text(name).uppercased(), "a"), RecordHeader(Self.text(name) + "x", "b")])
        }
        agree(EventHeaders.Name.allCases.map { RecordHeader(Self.text($0), "ab") })
    }

    @Test func `the last value of a header counts, whatever the others are`() {
        var random = SeededGenerator(seed: 8)
        let values: [[UInt8]?] = [nil, [], Array("a".utf8), Array("ab".utf8), [0xFF, 0xFE]]
        for _ in 0..<300 {
            agree(
                (0..<Int.random(in: 0...8, using: &random)).map { _ in
                    let name = EventHeaders.Name.allCases[Int.random(in: 0..<4, using: &random) * 5]
                    return RecordHeader(Self.text(name), values[Int.random(in: 0..<values.count, using: &random)])
                })
        }
    }
}
