import JOSE
import Testing

@testable import Formats

/// One text and whether it is JSON.
struct JSONText: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    init(_ text: String) {
        testDescription = text.isEmpty ? "nothing" : text.debugDescription
        bytes = Array(text.utf8)
    }

    init(_ name: String, _ bytes: [UInt8]) {
        testDescription = name
        self.bytes = bytes
    }

    /// A string with these bytes in it.
    init(_ name: String, inside bytes: [UInt8]) { self.init(name, [0x22] + bytes + [0x22]) }

    static let valid: [JSONText] = [
        "0", "-0", "1", "-1", "10", "0.1", "-0.0", "1.50", "1e1", "1E1", "1e+1", "1e-1", "0e0", "0E+00", "123.456e-78",
        "12345678901234567890123456789", "1e400", "true", "false", "null", #""""#, "[]", "{}", " 1 ",
        "\t\r\n{ \t\r\n}\n",
        "[ ]", "[1,2]", " [ 1 , 2 ] ", #"{"":{}}"#, #"{"a":1}"#, #" { "a" : 1 , "b" : [ ] } "#, #"{"a":{"a":{"a":1}}}"#,
        #"[{"a":1},{"a":2}]"#, #""\"\\\/\b\f\n\r\t""#, #""\u0000""#, #""\u00e9\u00E9""#, #""\ud83d\ude00""#,
        #""\uD800\uDC00\uDBFF\uDFFF""#, "\"\u{7F}\"", "\"\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\"",
        "\"\u{2028}\u{2029}\"", "\"\u{FEFF}\"", #"{"a":1,"A":2}"#, #"{"a":1," a":2}"#, #"[[],[[]],{}]"#, #""/""#,
    ].map { JSONText($0) }

    static let invalid: [JSONText] =
        [
            "", " ", "\n", "01", "00", "-01", "1.", ".5", "-.5", "1e", "1e+", "1E-", "1.e1", "-", "+1", "--1", "1-",
            "0x10", "1_000",
            "1.2.3", "1e1.5", "1 2", "NaN", "Infinity", "-Infinity", "tru", "trueX", "True", "TRUE", "nul", "nulll",
            "undefined",
            "\"", #""a"#, #""\"#, #""\""#, #"'a'"#, "a", #""\a""#, #""\x41""#, #""\'""#, #""\0""#, #""\u""#, #""\u12""#,
            #""\u12G4""#,
            #""\u 123""#, #""\u-123""#, #""\U0041""#, #""\u{41}""#, #""\ud800""#, #""\udc00""#, #""\ud800x""#,
            #""\ud800\n""#,
            #""\ud800\u0041""#, #""\ud800\ud800""#, #""\udc00\ud800""#, #""\ud83d\ude0""#, #""\ud83d\"#, "[", "]", "{",
            "}",
            "[1", "[1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1}", "{]", "[1]]", "[]]", "{}}", "[][]", #"{"a"}"#,
            #"{"a":}"#,
            #"{"a":1"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":1,,"b":2}"#, #"{"a":1 "b":2}"#, #"{"a" 1}"#, #"{"a"::1}"#,
            #"{a:1}"#,
            #"{1:1}"#, #"{null:1}"#, #"{"a":1:2}"#, #"{"a",1}"#, #"["a":1]"#, #"{"a":1]"#, "// a\n1", "/* a */ 1",
            "1 // a", "1;",
            "\"a\nb\"", "\"a\tb\"", "\"\0\"", "\u{FEFF}1", "\u{A0}1", "\u{C}1", "\u{B}1", "1\0", "\0", "\0" + "1",
            "\u{2003}1", "{}\0",
        ].map { JSONText($0) } + (0..<0x20).map { JSONText("control character \($0)", inside: [$0]) }

    static let notUTF8 = [
        JSONText("a lone continuation", inside: [0x80]), JSONText("two continuations", inside: [0xBF, 0xBF]),
        JSONText("an overlong slash in 2 bytes", inside: [0xC0, 0xAF]),
        JSONText("an overlong DEL", inside: [0xC1, 0xBF]),
        JSONText("an overlong slash in 3 bytes", inside: [0xE0, 0x80, 0xAF]),
        JSONText("an overlong U+07FF", inside: [0xE0, 0x9F, 0xBF]),
        JSONText("an overlong slash in 4 bytes", inside: [0xF0, 0x80, 0x80, 0xAF]),
        JSONText("an overlong U+FFFF", inside: [0xF0, 0x8F, 0xBF, 0xBF]),
        JSONText("the surrogate U+D800", inside: [0xED, 0xA0, 0x80]),
        JSONText("the surrogate U+DFFF", inside: [0xED, 0xBF, 0xBF]),
        JSONText("a pair of surrogates", inside: [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80]),
        JSONText("beyond U+10FFFF", inside: [0xF4, 0x90, 0x80, 0x80]),
        JSONText("a 4-byte F5", inside: [0xF5, 0x80, 0x80, 0x80]),
        JSONText("a 5-byte form", inside: [0xF8, 0x88, 0x80, 0x80, 0x80]), JSONText("FE", inside: [0xFE]),
        JSONText("FF", inside: [0xFF]), JSONText("2 bytes cut short", inside: [0xC3]),
        JSONText("3 bytes cut short", inside: [0xE2, 0x82]), JSONText("4 bytes cut short", inside: [0xF0, 0x9F, 0x98]),
        JSONText("an ASCII byte for the third", inside: [0xE2, 0x82, 0x41]),
        JSONText("an end of text for the second", [0x22, 0xC3]),
        JSONText("an end of text for the third", [0x22, 0xE2, 0x82]),
        JSONText("an end of text for the fourth", [0x22, 0xF0, 0x9F, 0x98]),
        JSONText("Latin-1 in a name", Array("{\"".utf8) + [0xE9] + Array("\":1}".utf8)),
    ]
}

@Suite("JSON texts")
struct JSONTextTests {
    @Test(arguments: JSONText.valid)
    func `every text that RFC 8259 accepts is parsed`(_ text: JSONText) throws {
        _ = try JSONDocument(parsing: text.bytes)
    }

    @Test(arguments: JSONText.invalid)
    func `every text that RFC 8259 refuses is refused`(_ text: JSONText) {
        let error = #expect(throws: JSONError.self) { try JSONDocument(parsing: text.bytes) }
        switch error {
        case .empty: #expect(text.bytes.allSatisfy { $0 == 0x20 || $0 == 0x0A })
        case .syntax(let offset): #expect((0...text.bytes.count).contains(offset))
        default: Issue.record("refused for another reason: \(String(describing: error))")
        }
    }

    /// A parser that looks at several bytes at once finds each that does not stand for itself, wherever it is.
    @Test func `every byte at every place of a string is taken or refused for what it is`() {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<20 {
                var text = [UInt8](repeating: UInt8(ascii: "a"), count: 22)
                (text[0], text[21], text[place + 1]) = (UInt8(ascii: "\""), UInt8(ascii: "\""), byte)
                let outcome = Result { () throws(JSONError) in try JSONDocument(parsing: text).root.string }
                switch byte {
                case UInt8(ascii: "\""): #expect(outcome == .failure(.syntax(at: place + 2)))
                // Behind it stands what is no escape; at the last place it is the quotation mark, and no end follows.
                case UInt8(ascii: "\\"): #expect(outcome == .failure(.syntax(at: place < 19 ? place + 2 : 22)))
                case 0..<0x20: #expect(outcome == .failure(.syntax(at: place + 1)))
                case 0x80...: #expect(outcome == .failure(.invalidUTF8(at: place + 1)))
                default: #expect(outcome == .success(String(decoding: text[1..<21], as: UTF8.self)))
                }
            }
        }
    }

    @Test(arguments: JSONText.notUTF8)
    func `strings that are not UTF-8 are refused`(_ text: JSONText) {
        let error = #expect(throws: JSONError.self) { try JSONDocument(parsing: text.bytes) }
        guard case .invalidUTF8(let offset) = error else {
            Issue.record("refused for another reason: \(String(describing: error))")
            return
        }
        #expect(text.bytes.indices.contains(offset))
    }

    @Test(arguments: [
        #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":1}"#, #"{"\u0061":1,"\u0061":1}"#, #"{"":1,"":2}"#,
        #"{"x":{"a":1,"b":2,"a":3}}"#,
        #"[{"a":1,"a":2}]"#, #"{"a/b":1,"a\/b":2}"#, #"{"😀":1,"\ud83d\ude00":2}"#, #"{"\n":1,"\u000a":2}"#,
        #"{"a":{"b":1},"c":[{"d":1}],"a":{}}"#,
    ])
    func `an object that names a member twice is refused`(_ text: String) {
        let error = #expect(throws: JSONError.self) { try JSONDocument(parsing: Array(text.utf8)) }
        guard case .duplicateMember = error else {
            Issue.record("refused for another reason: \(String(describing: error))")
            return
        }
    }

    @Test(arguments: [2, 11, 12, 13, 14, 100, 2000])
    func `a repeated name is found among many`(count: Int) throws {
        func object(_ names: [String]) -> [UInt8] {
            Array("{\(names.map { "\"\($0)\":0" }.joined(separator: ","))}".utf8)
        }
        let names = (0..<count).map { "name\($0)" }
        #expect(try JSONDocument(parsing: object(names)).root.members.count == count)
        for (first, last) in [(0, count - 1), (0, 1), (count - 2, count - 1), (count / 2, count - 1)] where first < last
        {
            var repeated = names
            repeated[last] = names[first]
            #expect(throws: JSONError.self) { try JSONDocument(parsing: object(repeated)) }
            repeated[last] = names[first].replacing("n", with: "\\u006e")
            #expect(throws: JSONError.self) { try JSONDocument(parsing: object(repeated)) }
        }
    }

    /// RFC 8259 section 8.3: names are compared by code unit. "é" in one code point and in two are different names.
    @Test(arguments: [2, 13])
    func `names that merely look alike are different names`(count: Int) throws {
        let names = ["\u{E9}", "e\u{301}"] + (2..<count).map { "name\($0)" }
        let text = "{\(names.map { "\"\($0)\":0" }.joined(separator: ","))}"
        #expect(try JSONDocument(parsing: Array(text.utf8)).root.members.count == count)
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func `nesting as deep as the limit is parsed, and one level more is refused`(open: String, close: String) throws {
        func nested(_ depth: Int) -> [UInt8] {
            let inner = open == "[" ? "" : "0"
            return Array((String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)).utf8)
        }
        for limit in [1, 2, 32, 500] {
            let limits = JSONDocument.Limits(depth: limit)
            _ = try JSONDocument(parsing: nested(limit), limits: limits)
            #expect(throws: JSONError.tooDeep(limit: limit)) {
                try JSONDocument(parsing: nested(limit + 1), limits: limits)
            }
        }
        _ = try JSONDocument(parsing: nested(32))
        #expect(throws: JSONError.tooDeep(limit: 32)) { try JSONDocument(parsing: nested(33)) }
        #expect(throws: JSONError.tooDeep(limit: 0)) { try JSONDocument(parsing: nested(1), limits: .init(depth: 0)) }
        #expect(throws: JSONError.tooDeep(limit: 32)) { try JSONDocument(parsing: nested(10_000)) }
        // Depth costs no stack: this one is within its limit.
        _ = try JSONDocument(parsing: nested(10_000), limits: .init(depth: 10_000))
        #expect(throws: JSONError.self) {
            try JSONDocument(parsing: Array(nested(10_000).dropLast()), limits: .init(depth: 10_000))
        }
    }

    @Test func `many containers beside one another are not deep`() throws {
        let text = "[" + [String](repeating: "[{}]", count: 2000).joined(separator: ",") + "]"
        #expect(try JSONDocument(parsing: Array(text.utf8), limits: .init(depth: 3)).root.elements.count == 2000)
    }

    @Test func `JSON longer than the limit is refused before it is read`() throws {
        let text = Array(#""abc""#.utf8)
        _ = try JSONDocument(parsing: text, limits: .init(bytes: 5))
        #expect(throws: JSONError.tooLarge(limit: 4)) { try JSONDocument(parsing: text, limits: .init(bytes: 4)) }
        let large = [UInt8](repeating: UInt8(ascii: "["), count: 2 << 20)
        #expect(throws: JSONError.tooLarge(limit: 1 << 20)) { try JSONDocument(parsing: large) }
        #expect(JSONDocument.Limits(bytes: .max).bytes == Int(Int32.max))
    }

    @Test(.timeLimit(.minutes(5))) func `JSON of 2 MB is read where the limit allows it`() throws {
        let string = [0x22] + [UInt8](repeating: UInt8(ascii: "a"), count: 2 << 20) + [0x22]
        let document = try JSONDocument(parsing: string, limits: .init(bytes: 4 << 20))
        #expect(document.root.rawBytes.count == 2 << 20)
        #expect(throws: JSONError.self) {
            try JSONDocument(parsing: Array(string.dropLast()), limits: .init(bytes: 4 << 20))
        }
    }

    private static let surroundings: [([UInt8], [UInt8])] = [
        ([], Array("1".utf8)), (Array("{\"a\":[".utf8), []), (Array("\"".utf8), Array("\"}0".utf8)),
        ([0xC3], [0xA9, 0x80]), (Array("\\".utf8), Array("0\n".utf8)),
    ]

    @Test(arguments: JSONText.valid + JSONText.invalid + JSONText.notUTF8)
    func `bytes around JSON do not change its parsing`(_ text: JSONText) throws {
        let alone = Result { () throws(JSONError) in try JSONDocument(parsing: text.bytes) }
        for (before, after) in Self.surroundings {
            let part = before.count..<before.count + text.bytes.count
            let within = Result { () throws(JSONError) in
                try JSONDocument(parsing: before + text.bytes + after, in: part)
            }
            switch (alone, within) {
            case (.success(let alone), .success(let within)):
                #expect(within.root.json == alone.root.json)
                #expect(within.root.position == alone.root.position)
            case (.failure(let alone), .failure(let within)): #expect(within == alone)
            default: Issue.record("taken in one place, refused in the other")
            }
        }
    }

    @Test func `the limit is for the JSON, and a missing document is empty`() throws {
        let bytes = Array(#"....{"a":1,"a":2}"#.utf8)
        _ = try JSONDocument(parsing: bytes, in: 9..<10, limits: .init(bytes: 1))
        #expect(throws: JSONError.duplicateMember(at: 8)) { try JSONDocument(parsing: bytes, in: 4..<bytes.count) }
        #expect(throws: JSONError.tooLarge(limit: 12)) {
            try JSONDocument(parsing: bytes, in: 4..<bytes.count, limits: .init(bytes: 12))
        }
        for part in [4..<4, 40..<50] {
            #expect(throws: JSONError.empty) { try JSONDocument(parsing: bytes, in: part) }
        }
    }
}
