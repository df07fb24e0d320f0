import AdapterKit

/// A subject key, read back: the token's app and user.
package struct SubjectKey: Sendable, Equatable {
    /// The app.
    package let app: String
    /// The user, as a batch job names it under `reissue.user`: a JSON string, or an object of ids by name.
    package let user: [UInt8]

    /// Reads `key`; nil where a worker would not have written it, and for a subject with a challenge, which no batch
    /// job can answer.
    package init?(_ key: [UInt8]) {
        var parts = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count >= 2, let app = Self.text(parts.removeFirst()), !app.isEmpty else { return nil }
        self.app = app
        var json = JSONWriter()
        // An equals sign of an id is encoded, so that one that stands bare is between a name and a value.
        let isNamed = parts.allSatisfy { $0.contains(UInt8(ascii: "=")) }
        if isNamed {
            json.beginObject()
            for part in parts {
                let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                guard halves.count == 2, let name = Self.text(halves[0]), let value = Self.text(halves[1]) else {
                    return nil
                }
                json.member(name, value)
            }
            json.endObject()
        } else {
            guard parts.count == 1, let user = Self.text(parts[0]), !user.isEmpty else { return nil }
            json.string(user)
        }
        user = json.bytes
    }

    /// Returns the reason why nobody can be asked for a token in the name of `key`, which is no subject key.
    package static func refusal(_ key: [UInt8]) -> String {
        let parts = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isSpelled = parts.allSatisfy { part in
            part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .allSatisfy { text($0) != nil }
        }
        guard isSpelled, parts.count > 2 else {
            return "the record's key is none that a worker writes; nobody is asked for in its name"
        }
        return "the token answers a challenge, which only its device can renew"
    }

    /// Returns the text of a part of a key; nil where a worker would have written it differently. Two spellings of one
    /// user would cause two requests, and bytes that need encoding could end a line of a list.
    private static func text(_ part: ArraySlice<UInt8>) -> String? { PercentEncoding.text(writtenAs: part) }
}
