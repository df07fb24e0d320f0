import AdapterKit

/// A subject key, read back: whose token it is.
package struct SubjectKey: Sendable, Equatable {
    /// The app.
    package let app: String
    /// The user, as a batch job names it under `reissue.user`: a JSON string, or an object of ids by name.
    package let user: [UInt8]

    /// Reads `key`; nil where it is none, or one of a subject with a challenge, which no batch job can answer.
    package init?(_ key: [UInt8]) {
        var parts = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count >= 2, let app = Self.decode(parts.removeFirst()), !app.isEmpty else { return nil }
        self.app = app
        var json = JSONWriter()
        // An equals sign of an id is encoded, so that one that stands bare is between a name and a value.
        let isNamed = parts.allSatisfy { $0.contains(UInt8(ascii: "=")) }
        if isNamed {
            json.beginObject()
            for part in parts {
                let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                guard halves.count == 2, let name = Self.decode(halves[0]), let value = Self.decode(halves[1]) else {
                    return nil
                }
                json.member(name, value)
            }
            json.endObject()
        } else {
            guard parts.count == 1, let user = Self.decode(parts[0]), !user.isEmpty else { return nil }
            json.string(user)
        }
        user = json.bytes
    }

    /// Whether `key` is of a subject with a challenge: three parts, and not all of them names with values.
    static func isChallengeBound(_ key: [UInt8]) -> Bool {
        var parts = 1
        var named = 0
        var isNamed = false
        for byte in key {
            if byte == UInt8(ascii: "/") {
                if isNamed, parts > 1 { named += 1 }
                parts += 1
                isNamed = false
            } else if byte == UInt8(ascii: "=") {
                isNamed = true
            }
        }
        if isNamed, parts > 1 { named += 1 }
        return parts > 2 && named < parts - 1
    }

    private static func decode(_ part: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = part
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
