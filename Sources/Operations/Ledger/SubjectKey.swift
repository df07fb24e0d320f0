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
        guard parts.count >= 2, let app = PercentEncoding.decoded(parts.removeFirst()), !app.isEmpty else { return nil }
        self.app = app
        var json = JSONWriter()
        // An equals sign of an id is encoded, so that one that stands bare is between a name and a value.
        let isNamed = parts.allSatisfy { $0.contains(UInt8(ascii: "=")) }
        if isNamed {
            json.beginObject()
            for part in parts {
                let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                guard halves.count == 2, let name = PercentEncoding.decoded(halves[0]),
                    let value = PercentEncoding.decoded(halves[1])
                else {
                    return nil
                }
                json.member(name, value)
            }
            json.endObject()
        } else {
            guard parts.count == 1, let user = PercentEncoding.decoded(parts[0]), !user.isEmpty else { return nil }
            json.string(user)
        }
        user = json.bytes
    }
}
