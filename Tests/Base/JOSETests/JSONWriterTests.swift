import Foundation
import JOSE
import Testing

@testable import Formats

@Suite("JSON writing")
struct JSONWriterTests {
    static let texts: [String] =
        (0..<0x80).compactMap { Unicode.Scalar($0).map { "a\($0)b" } }
        + [
            "", "\"", "\\", "\\\"", "\\u0041", "/", "</script>", "😀", "👩‍👩‍👧", "e\u{301}", "\u{E9}", "\u{7F}", "\u{80}",
            "\u{2028}\u{2029}",
            "\u{FFFF}", "\u{10FFFF}", "a\u{FEFF}", "日本語", "a\r\nb", String(repeating: "x\n", count: 2000), "\0\0",
        ]

    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        write(&json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test(arguments: texts)
    func `a string reads back as it was, as a value and as a name`(_ text: String) throws {
        var json = JSONWriter(capacity: 0)
        json.beginObject()
        json.member(text, text)
        json.endObject()
        let root = try JSONDocument(parsing: json.bytes).root
        let units = Array(text.utf8)
        #expect(root.members.map { Array($0.name.utf8) } == [units])
        #expect(root[text]?.string.map { Array($0.utf8) } == units)
        let foundation = try JSONSerialization.jsonObject(with: Data(json.bytes))
        let object = try #require(foundation as? [String: String])
        #expect(object.keys.first.map { Array($0.utf8) } == units)
        #expect(object.values.first.map { Array($0.utf8) } == units)
    }

    @Test func `commas and brackets are placed by the writer`() {
        let text = written { json in
            json.beginObject()
            json.member("a", 1)
            json.name("b")
            json.beginArray()
            json.integer(-1)
            json.bool(true)
            json.bool(false)
            json.null()
            json.beginObject()
            json.endObject()
            json.beginArray()
            json.endArray()
            json.string("x")
            json.unescapedString(Array("y".utf8))
            json.raw("[1,2]")
            json.raw(Array("3.5".utf8))
            json.endArray()
            json.name("c")
            json.beginObject()
            json.member("d", "e")
            json.endObject()
            json.member("f", .min)
            json.endObject()
        }
        #expect(
            text == #"{"a":1,"b":[-1,true,false,null,{},[],"x","y",[1,2],3.5],"c":{"d":"e"},"f":-9223372036854775808}"#)
    }

    @Test func `strings are written with the shortest escapes`() {
        #expect(
            written { $0.string("\"\\/\n\r\t\u{8}\u{C}\u{1}\u{1F}\u{7F}é😀") }
                == "\"\\\"\\\\/\\n\\r\\t\\u0008\\u000c\\u0001\\u001f\u{7F}é😀\"")
    }

    @Test(arguments: [0, 1, -1, .max, .min, 1_700_000_000] as [Int64])
    func `an integer reads back as it was`(_ value: Int64) throws {
        #expect(try JSONDocument(parsing: Array(written { $0.integer(value) }.utf8)).root.integer == value)
    }

    @Test func `a cleared writer starts afresh`() {
        var json = JSONWriter()
        json.beginArray()
        json.integer(1)
        json.removeAll()
        #expect(json.bytes.isEmpty)
        json.beginArray()
        json.integer(2)
        json.endArray()
        #expect(String(decoding: json.bytes, as: UTF8.self) == "[2]")
    }

    @Test func `whole values can be moved from one text to another`() throws {
        let source = try JSONDocument(parsing: Array(#"{"a": {"b" :"\u0041\""} , "c":"x\ty"}"#.utf8)).root
        var json = JSONWriter()
        json.beginArray()
        for member in source.members { json.raw(member.value.json) }
        json.endArray()
        let elements = try JSONDocument(parsing: json.bytes).root.elements
        #expect(elements.first?["b"]?.string == "A\"")
        #expect(elements.last?.string == "x\ty")
    }
}
