import Testing

@testable import Formats

@Suite struct JSONReaderTests {
    private let reader = JSONReader()

    private func parse(_ text: String) throws -> JSONValue {
        let bytes = Array(text.utf8)
        return try reader.parse(bytes, in: bytes.indices, limits: .init())
    }

    @Test func `a reader takes the document again that nobody refers to`() throws {
        let first = ObjectIdentifier(try parse(#"{"user":"u-1","more":[1,2,3]}"#).document)
        let second = try parse(#"{"user":"u-2"}"#)
        #expect(ObjectIdentifier(second.document) == first)
        #expect(second["user"]?.string == "u-2")
        #expect(second["more"] == nil)
    }

    @Test func `a value that is kept stays as it was when its reader parses another text`() throws {
        let kept = try parse(#"{"user":"u-1"}"#)
        let next = try parse(#"{"user":"somebody else"}"#)
        #expect(kept["user"]?.string == "u-1")
        #expect(next["user"]?.string == "somebody else")
    }

    @Test func `a string that is no JSON leaves nothing in its reader`() throws {
        #expect(throws: JSONError.self) { try parse(#"{"user":"u-1","#) }
        #expect(try parse("{}").members.isEmpty)
    }
}

@Suite struct ByteComparisonTests {
    @Test(arguments: 0..<20) func `bytes are the same only if all of them are`(_ count: Int) {
        let bytes = (0..<count).map { UInt8($0) }
        #expect(isSame(bytes, Array(bytes)))
        #expect(!isSame(bytes, bytes + [0]))
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 0x80
            #expect(!isSame(bytes, other))
        }
    }

    private func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.span.hasSameBytes(as: right.span) }

    @Test(arguments: 0..<20) func `a string is escaped wherever its quotation mark stands`(_ place: Int) {
        let before = String(repeating: "a", count: place)
        for (mark, escaped) in [("\"", "\\\""), ("\\", "\\\\"), ("\u{1}", "\\u0001")] {
            let json = ByteWriter.bytes { $0.append(quoting: before + mark + "ähm") }
            #expect(String(decoding: json, as: UTF8.self) == "\"\(before)\(escaped)ähm\"")
        }
    }

    @Test func `digits are written again as they stand`() {
        let bytes = ByteWriter.bytes {
            $0.append(decimal: 1_790_000_000)
            $0.append(",")
            $0.append(again: 0..<10)
        }
        #expect(String(decoding: bytes, as: UTF8.self) == "1790000000,1790000000")
    }
}
