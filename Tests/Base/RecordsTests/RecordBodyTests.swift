import Formats
import Records
import Testing

/// Key, value and headers in one stretch of bytes.
@Suite struct RecordBodyTests {
    private static let headers = [
        RecordHeader("plain", "text"), RecordHeader("empty", ""), RecordHeader("null", nil), RecordHeader("ä", "ö"),
        RecordHeader("twice", "first"), RecordHeader("twice", "second"), RecordHeader("gone", "there"),
        RecordHeader("gone", nil),
        RecordHeader("bytes", [0xFF, 0xFE]),
    ]

    @Test(arguments: [nil, [], Array("key".utf8)] as [[UInt8]?], [nil, [], Array("value".utf8)] as [[UInt8]?])
    func `record bodies return the key, value and headers put in`(key: [UInt8]?, value: [UInt8]?) {
        for headers in [[], Self.headers] {
            let contents = RecordBody(key: key, value: value, headers: headers)
            #expect(contents.key == key)
            #expect(contents.value == value)
            #expect(contents.headers == headers)
            #expect(contents == RecordBody(key: key, value: value, headers: headers))
        }
    }

    @Test(
        arguments: [
            ("plain", "text"), ("empty", ""), ("null", nil), ("ä", "ö"), ("twice", "second"), ("gone", nil),
            ("bytes", nil),
            ("absent", nil), ("plai", nil), ("", nil),
        ] as [(String, String?)])
    func `a header's text is its last value, where that is text`(name: String, text: String?) {
        #expect(RecordBody(key: Array("plain".utf8), value: nil, headers: Self.headers).text(name) == text)
    }

    @Test func `two records are the same only with the same borders`() {
        let one = RecordBody(key: [1], value: nil, headers: [RecordHeader("a", "bc")])
        #expect(one != RecordBody(key: [1], value: nil, headers: [RecordHeader("ab", "c")]))
        #expect(one != RecordBody(key: [1], value: [], headers: [RecordHeader("a", "bc")]))
        #expect(RecordBody(key: nil, value: nil, headers: []) != RecordBody(key: [], value: nil, headers: []))
    }

    @Test func `lengths that reach too far end where what they lie in does`() {
        let name = [2, 0, 0, 0, 1, 0, 0, 0] + Array("ab".utf8) + Array("c".utf8)
        func contents(_ bytes: [UInt8], key: Int32, headers: Int32) -> RecordBody {
            RecordBody(bytes: bytes, keyLength: key, headersLength: headers, hasValue: true)
        }
        let whole = contents([7] + name + [9], key: 1, headers: 11)
        #expect(whole.key == [7])
        #expect(whole.headers == [RecordHeader("ab", "c")])
        #expect(whole.value == [9])
        // A header that is cut short has what is there of its name; less than its lengths is none.
        #expect(contents([7] + name + [9], key: 1, headers: 9).headers == [RecordHeader("a", [])])
        #expect(contents([7] + name + [9], key: 1, headers: 7).headers == [])
        #expect(contents([0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 1], key: 0, headers: 9).headers.count == 1)
        #expect(contents([1, 2], key: .max, headers: .max).key == [1, 2])
        #expect(contents([1, 2], key: .min, headers: .min).value == [1, 2])
        #expect(contents([1, 2], key: 1, headers: .max).text("absent") == nil)
    }

    @Test(arguments: [0, 1, 16, 1023, 1024, 1025, 4000])
    func `a body is the same whatever its size was estimated at`(estimate: Int) {
        for size in [0, 5, 900, 3000] {
            let value = Array(repeating: UInt8(ascii: "v"), count: size)
            func body(_ estimate: Int) -> RecordBody {
                RecordBody(key: Array("key".utf8), hasValue: true, estimate: estimate) { bytes in
                    for header in Self.headers { bytes.append(header: header) }
                } value: {
                    $0.append(header: RecordHeader("value", value))
                }
            }
            #expect(body(estimate) == body(10_000))
            #expect(body(estimate).headers == Self.headers)
            #expect(body(estimate).value?.suffix(size) == value[...])
        }
    }
}
