import JOSE
import Testing

@testable import Formats

@Suite("JSON values")
struct JSONValueTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONDocument(parsing: Array(text.utf8)).root }

    @Test func `each value reports its own type and no other`() throws {
        let values = try parse(#"[{}, [], "", 0, true, false, null]"#).elements
        #expect(values.map(\.isObject) == [true, false, false, false, false, false, false])
        #expect(values.map(\.isArray) == [false, true, false, false, false, false, false])
        #expect(values.map(\.isString) == [false, false, true, false, false, false, false])
        #expect(values.map(\.isNumber) == [false, false, false, true, false, false, false])
        #expect(values.map(\.isNull) == [false, false, false, false, false, false, true])
        #expect(values.map(\.bool) == [nil, nil, nil, nil, true, false, nil])
        #expect(values.map(\.string) == [nil, nil, "", nil, nil, nil, nil])
        #expect(values.map(\.integer) == [nil, nil, nil, 0, nil, nil, nil])
        #expect(values.map(\.number) == [nil, nil, nil, 0, nil, nil, nil])
        #expect(values.allSatisfy { $0["a"] == nil && $0.members.isEmpty && $0.elements.isEmpty })
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("7", 7), ("-7", -7), ("1700000000", 1_700_000_000),
            ("9223372036854775807", Int64.max),
            ("-9223372036854775808", .min), ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1.0", nil),
            ("1.5", nil), ("1e3", nil), ("1E0", nil), ("-0.0", nil), (#""7""#, nil), ("true", nil),
        ] as [(String, Int64?)])
    func `an integer is written as one and fits`(text: String, expected: Int64?) throws {
        #expect(try parse(text).integer == expected)
    }

    @Test(
        arguments: [
            ("0", 0), ("1.5", 1.5), ("-1.5", -1.5), ("1e3", 1000), ("1E-3", 0.001), ("1.25e+2", 125),
            ("9223372036854775808", 9_223_372_036_854_775_808), ("0.1", 0.1), (#""1""#, nil), ("null", nil),
        ] as [(String, Double?)])
    func `a number has a fraction and an exponent where it is written with them`(text: String, expected: Double?) throws
    {
        #expect(try parse(text).number == expected)
    }

    @Test(arguments: [
        (#""plain""#, "plain"), (#""""#, ""), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041""#, "A"),
        (#""a\u00e9b""#, "a\u{E9}b"), (#""\u0000""#, "\0"), (#""\u20AC\u20ac""#, "€€"), (#""\ud83d\uDE00""#, "😀"),
        (#""\uD800\uDC00\uDBFF\uDFFF""#, "\u{10000}\u{10FFFF}"), (#""x\ud83d\ude00y\\u0041""#, "x😀y\\u0041"),
        (#""\uFFFF\uFEFF""#, "\u{FFFF}\u{FEFF}"), (#""é😀""#, "é😀"), (#""\\""#, "\\"), (#""\\\"""#, "\\\""),
        ("\"e\u{301}\"", "e\u{301}"), (#""e\u0301""#, "e\u{301}"),
    ])
    func `the escapes of a string are decoded`(text: String, expected: String) throws {
        // By code unit: Swift's == takes "é" and "e" with an accent for the same text.
        #expect(try parse(text).string.map { Array($0.utf8) } == Array(expected.utf8))
        let object = try parse("{\(text):1}")
        #expect(object.members.first.map { Array($0.name.utf8) } == Array(expected.utf8))
        #expect(object[expected]?.integer == 1)
        #expect(object[expected + "x"] == nil)
    }

    @Test func `a member is found by its name, byte for byte`() throws {
        let object = try parse(#"{"a":1,"b":{"a":2,"x":[{"c":3}]},"c":[4],"\u0064":5,"":6,"\u00e9":7}"#)
        #expect(object["a"]?.integer == 1)
        #expect(object["b"]?["a"]?.integer == 2)
        #expect(object["b"]?["x"]?.elements.first?["c"]?.integer == 3)
        #expect(object["c"]?.elements.map(\.integer) == [4])
        #expect(object["d"]?.integer == 5)
        #expect(object[""]?.integer == 6)
        #expect(object["\u{E9}"]?.integer == 7)
        for name in ["A", "x", "aa", "\\u0064", "e\u{301}", "\0", " "] { #expect(object[name] == nil, "\(name)") }
        #expect(object.members.map(\.name) == ["a", "b", "c", "d", "", "\u{E9}"])
        #expect(object.members[1].value.members.map(\.name) == ["a", "x"])
    }

    @Test func `each value keeps its own bytes`() throws {
        let text = #" { "a" : [ 1 , "x\n" ] , "b":1.50e1, "c" : "\u0041" , "d":{ } , "e" : null } "#
        let root = try parse(text)
        let raw = root.members.map { String(decoding: $0.value.rawBytes, as: UTF8.self) }
        #expect(raw == [#"[ 1 , "x\n" ]"#, "1.50e1", #"\u0041"#, "{ }", "null"])
        let json = root.members.map { String(decoding: $0.value.json, as: UTF8.self) }
        #expect(json == [#"[ 1 , "x\n" ]"#, "1.50e1", #""\u0041""#, "{ }", "null"])
        #expect(root.json == Array(text.utf8.dropFirst().dropLast()))
        for member in root.members { _ = try JSONDocument(parsing: member.value.json) }
    }

    @Test func `a value's position is its line and column`() throws {
        let root = try parse("\n {\"a\":1,\r\n\"é\": \"x\",\n\n  \"c\":[\ntrue]}")
        #expect(root.position == (2, 2))
        #expect(try #require(root["a"]).position == (2, 7))
        #expect(try #require(root["\u{E9}"]).position == (3, 7))
        #expect(try #require(root["c"]).position == (5, 7))
        #expect(root["c"]?.elements.map { "\($0.position.line):\($0.position.column)" } == ["6:1"])
        #expect(try parse("0").position == (1, 1))
        #expect(try parse(#""""#).position == (1, 1))
    }

    @Test func `a value outlives the document it was read from`() throws {
        func value() throws -> JSONValue? { try parse(#"{"a":{"b":"c"}}"#)["a"] }
        #expect(try value()?["b"]?.string == "c")
    }

    @Test func `every refusal has the place, and none the text`() {
        let errors: [JSONError] = [
            .empty, .tooLarge(limit: 5), .tooDeep(limit: 6), .syntax(at: 7), .invalidUTF8(at: 8),
            .duplicateMember(at: 9),
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect(throws: JSONError.syntax(at: 10)) { try parse(#"{"secret":hunter2}"#) }
        #expect(throws: JSONError.duplicateMember(at: 8)) { try parse(#"{"a":1,"a":2}"#) }
    }
}
