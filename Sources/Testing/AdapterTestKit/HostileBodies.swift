import AdapterKit

/// Bodies that no vendor documents and a vendor's address may answer with all the same: none, a gateway's page, half of an
/// answer, JSON of another shape, noise. The same on every run.
public enum HostileBodies {
    /// Bodies that are no answer of anybody's.
    public static let all: [[UInt8]] =
        texts.map { Array($0.utf8) } + [
            [0], [0xFF, 0xFE], [0xEF, 0xBB, 0xBF, 0x7B, 0x7D],
            Array("{\"message\":\"".utf8) + [0xC3, 0x28, 0x22, 0x7D],
        ]

    private static let texts: [String] = [
        "", " ", "null", "true", "0", "\"success\"", "{}", "[]", "[{}]", "{", "}", "{]", "<html>Bad Gateway</html>",
        "OK",
        "{\"message\":\"succ", "{\"success\":true}", "{\"success\":true}{}", "{\"a\":1,\"a\":2}", "{\"users\":{}}",
        "{\"results\":null}", "{\"identity\":[]}", "{\"matches\":1}", "{\"id\":null}", "{\"externalId\":{}}",
        String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000),
        String(repeating: "{\"a\":", count: 10_000) + "1" + String(repeating: "}", count: 10_000),
        String(repeating: "[", count: 10_000), "{\"a\":\"" + String(repeating: "x", count: 2 << 20) + "\"}",
    ]

    /// Returns `count` bodies of random bytes and of random JSON.
    public static func random(_ count: Int, seed: UInt64) -> [[UInt8]] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { place in
            place.isMultiple(of: 2)
                ? (0..<Int.random(in: 0..<200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
                : GarbageJSON.value(depth: 4, random: &random)
        }
    }

    /// Returns `count` bodies made from `body` by changing bytes, cutting it off, or replacing one of its JSON values
    /// by another one.
    public static func damaging(_ body: [UInt8], _ count: Int, seed: UInt64) -> [[UInt8]] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { place in
            switch place % 3 {
            case 0: GarbageJSON.damaged(body, random: &random)
            case 1: Array(body.prefix(Int.random(in: 0...body.count, using: &random)))
            default: replacingValue(of: body, random: &random)
            }
        }
    }

    /// Returns `body` with one of its values replaced by a value of another kind.
    private static func replacingValue(of body: [UInt8], random: inout some RandomNumberGenerator) -> [UInt8] {
        guard let root = try? JSONDocument(parsing: body).root else { return body }
        let others = ["null", "true", "0", "-1.5e300", "\"\"", "\"x\"", "[]", "{}", "[null]", "[[]]", "{\"a\":[]}"]
        var replacement = Replacement(
            place: Int.random(in: 0..<count(root), using: &random), json: others.randomElement(using: &random) ?? "0")
        var json = JSONWriter()
        replacement.write(root, to: &json)
        return json.bytes
    }

    private static func count(_ value: JSONValue) -> Int {
        1 + value.elements.reduce(0) { $0 + count($1) } + value.members.reduce(0) { $0 + count($1.value) }
    }

    /// Copies a value, but for the one at `place` in the order of the text.
    private struct Replacement {
        var place: Int
        let json: String

        mutating func write(_ value: JSONValue, to writer: inout JSONWriter) {
            place -= 1
            if place == -1 {
                writer.raw(json)
            } else if value.isObject {
                writer.beginObject()
                for member in value.members {
                    writer.name(member.name)
                    write(member.value, to: &writer)
                }
                writer.endObject()
            } else if value.isArray {
                writer.beginArray()
                for element in value.elements { write(element, to: &writer) }
                writer.endArray()
            } else {
                writer.raw(value.json)
            }
        }
    }
}
