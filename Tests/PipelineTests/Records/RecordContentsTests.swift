import AdapterKit
import Pipeline
import Testing

/// Key, value and headers in two stretches of bytes.
@Suite struct RecordContentsTests {
    private static let headers = [
        Header("plain", "text"), Header("empty", ""), Header("null", nil), Header("ä", "ö"),
        Header("twice", "first"), Header("twice", "second"), Header("gone", "there"), Header("gone", nil),
        Header("bytes", [0xFF, 0xFE]),
    ]

    @Test(arguments: [nil, [], Array("key".utf8)] as [[UInt8]?], [nil, [], Array("value".utf8)] as [[UInt8]?])
    func `give back what was put in`(key: [UInt8]?, value: [UInt8]?) {
        for headers in [[], Self.headers] {
            let contents = RecordContents(key: key, value: value, headers: headers)
            #expect(contents.key == key)
            #expect(contents.value == value)
            #expect(contents.headers == headers)
            #expect(contents == RecordContents(key: key, value: value, headers: headers))
        }
    }

    @Test(
        arguments: [
            ("plain", "text"), ("empty", ""), ("null", nil), ("ä", "ö"), ("twice", "second"), ("gone", nil),
            ("bytes", nil),
            ("absent", nil), ("plai", nil), ("", nil),
        ] as [(String, String?)])
    func `a header's text is its last value, where that is text`(name: String, text: String?) {
        #expect(RecordContents(key: Array("plain".utf8), value: nil, headers: Self.headers).text(name) == text)
    }

    @Test func `two records are the same only with the same borders`() {
        let one = RecordContents(key: [1], value: nil, headers: [Header("a", "bc")])
        #expect(one != RecordContents(key: [1], value: nil, headers: [Header("ab", "c")]))
        #expect(one != RecordContents(key: [1], value: [], headers: [Header("a", "bc")]))
        #expect(RecordContents(key: nil, value: nil, headers: []) != RecordContents(key: [], value: nil, headers: []))
    }

    @Test func `lengths that reach too far end where the bytes do`() {
        let contents = RecordContents(
            value: nil, head: [1, 2, 3], keyLength: 2, headerLengths: [(5, 7), (.max, .max)])
        #expect(contents.key == [1, 2])
        #expect(contents.headers.map(\.name) == ["\u{3}", ""])
        #expect(contents.text("absent") == nil)
        #expect(RecordContents(value: nil, head: [1], keyLength: .max, headerLengths: [(1, 1)]).headers.count == 1)
    }
}
