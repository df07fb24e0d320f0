import AsyncTestSupport
import Foundation
import JOSE
import Testing

@testable import Formats

/// Random damage to a good text, compared with Foundation's parser.
///
/// The two may part only where Foundation is known to be
/// - lenient: it takes duplicate members, a trailing comma, a byte order mark, and text in UTF-16 or UTF-32, which it
///   guesses from a NUL or a mark among the first bytes;
/// - strict: it refuses a number beyond the range of `Double`, which RFC 8259 (section 6) leaves to the reader.
@Suite("JSON against Foundation", .timeLimit(.minutes(5)))
struct JSONFuzzTests {
    private static let original = Array(
        ##"{"a":[1,-2.5e3,0],"b":{"c":"\u00e9\n\ud83d\ude00","d":null},"é😀":[true,false,{}]}"##.utf8)
    /// The material of the damage: JSON's own characters, digits, and bytes that break UTF-8.
    private static let splinters: [[UInt8]] =
        #"{}[]:,"\/.+-eEu0129aAntfl "#.utf8.map { [$0] }
        + [
            [0], [0x1F], [0x7F], [0x80], [0xBF], [0xC3], [0xC3, 0xA9], [0xED, 0xA0, 0x80], [0xF0, 0x9F], [0xFF], [0xFE],
        ]
        + [#"\u"#, #"\ud800"#, #"\udc00"#, "null", "true", #""a":1,"#, "1e999", "[[", "]]", "//", "\t", "\r\n"].map {
            Array($0.utf8)
        }

    private static func damaged(using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = original
        for _ in 0..<(Bool.random(using: &generator) ? 1 : Int.random(in: 2...3, using: &generator)) {
            let at = Int.random(in: 0...bytes.count, using: &generator)
            let splinter = splinters[Int.random(in: splinters.indices, using: &generator)]
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes.insert(contentsOf: splinter, at: at)
            case 1 where at < bytes.count: bytes.replaceSubrange(at...at, with: splinter)
            case 2 where at < bytes.count: bytes.remove(at: at)
            case 3 where at < bytes.count: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 4: bytes.removeSubrange(at..<min(at + Int.random(in: 0...8, using: &generator), bytes.count))
            default:
                bytes.insert(
                    contentsOf: bytes[at..<min(at + Int.random(in: 0...8, using: &generator), bytes.count)], at: at)
            }
        }
        return bytes
    }

    private static func foundationTakes(_ bytes: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
    }

    private static func isKnownLeniency(_ bytes: [UInt8], _ error: JSONError) -> Bool {
        if case .duplicateMember = error { return true }
        if bytes.prefix(4).contains(0)
            || [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]].contains(where: bytes.starts)
        {
            return true
        }
        guard case .syntax(let offset) = error, bytes.indices.contains(offset), "]}".utf8.contains(bytes[offset]) else {
            return false
        }
        return bytes[..<offset].last { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: ",")
    }

    private static func holdsHugeNumber(_ value: JSONValue) -> Bool {
        if value.isNumber { return value.number?.isFinite != true }
        return value.elements.contains(where: holdsHugeNumber) || value.members.contains { holdsHugeNumber($0.value) }
    }

    /// Reads everything there is to read, so that a wrong index would trap here.
    private static func readAll(_ value: JSONValue) -> Int {
        for member in value.members where value[member.name] == nil { return -1 << 20 }
        let inside = value.elements.map(readAll).reduce(0, +) + value.members.map { readAll($0.value) }.reduce(0, +)
        return inside + value.json.count + (value.string?.count ?? 0) + (value.integer == nil ? 0 : 1)
    }

    @Test(arguments: 0..<10)
    func `damaged texts never trap and are judged as Foundation judges them`(round: Int) throws {
        var generator = SeededGenerator(seed: UInt64(round))
        var taken = 0
        for _ in 0..<Scale.rounds(5000) {
            let bytes = Self.damaged(using: &generator)
            let foundation = Self.foundationTakes(bytes)
            do throws(JSONError) {
                let document = try JSONDocument(parsing: bytes)
                taken += 1
                #expect(Self.readAll(document.root) > 0)
                if !foundation {
                    #expect(Self.holdsHugeNumber(document.root), "\(String(decoding: bytes, as: UTF8.self))")
                }
            } catch {
                if foundation {
                    #expect(Self.isKnownLeniency(bytes, error), "\(String(decoding: bytes, as: UTF8.self)): \(error)")
                }
            }
        }
        // Damage that is always or never fatal would test nothing.
        #expect((Scale.rounds(250)..<Scale.rounds(4500)).contains(taken))
    }

    @Test func `random bytes never trap`() {
        var generator = SeededGenerator(seed: 99)
        for _ in 0..<Scale.rounds(5000) {
            let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            if let document = try? JSONDocument(parsing: bytes) { #expect(Self.readAll(document.root) > 0) }
        }
    }

    @Test(arguments: JSONText.valid)
    func `Foundation accepts the valid texts, numbers too large for it apart`(_ text: JSONText) {
        #expect(Self.foundationTakes(text.bytes) == (text.bytes != Array("1e400".utf8)))
    }

    /// The known leniencies, pinned: when Foundation changes its mind, the comparison above can become stricter.
    @Test(arguments: [
        JSONText("[1,]"), JSONText(#"{"a":1,}"#), JSONText(#"{"a":1,"a":2}"#), JSONText("\u{FEFF}1"),
        JSONText("UTF-16LE", [0x31, 0]), JSONText("UTF-16BE", [0, 0x31]),
    ])
    func `Foundation accepts a few texts that are refused here`(_ text: JSONText) {
        #expect(Self.foundationTakes(text.bytes))
        #expect(throws: JSONError.self) { try JSONDocument(parsing: text.bytes) }
    }
}
