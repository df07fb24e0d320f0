import Formats
package import Pipeline

/// A dead letter for a person: its headers and its value without secrets.
///
/// Members and headers with a secret's name, tokens, and long strings without a space are replaced by their size, also within
/// strings that hold JSON. Ids of users stay.
package struct RedactedLetter: Sendable {
    /// The headers in the record's order.
    package let headers: [(name: String, value: String)]
    /// The value as JSON; nil if the record has no value that is JSON.
    package let value: [UInt8]?
    /// The size of the record's value in bytes; nil without a value.
    package let valueBytes: Int?

    /// The letter in `record`.
    package init(_ record: InputRecord) {
        headers = record.headers.map { header in
            let text = String(decoding: header.value ?? [], as: UTF8.self)
            return (header.name, HopHeaders.all.contains(header.name) ? text : Self.text(text, named: header.name))
        }
        valueBytes = record.value?.count
        value = record.value.flatMap { try? JSONDocument(parsing: $0).root }.map { root in
            var json = JSONWriter()
            Self.write(root, named: "", to: &json)
            return json.bytes
        }
    }

    /// The parts of names of members that hold secrets, in lower case and without separators.
    private static let secretNames = [
        "token", "jwt", "jws", "secret", "signature", "hash", "hmac", "password", "passphrase", "credential",
        "authoriz",
        "cookie", "session", "assertion", "proof", "bearer", "passwd", "nonce",
    ]
    /// The words of such names that are parts of other words too, in lower case.
    private static let secretWords: Set = ["sig", "pwd", "pass", "auth", "pin", "otp"]
    /// The length from which a string without a space is opaque: longer than a UUID.
    private static let opaqueLength = 40

    private static func write(_ value: JSONValue, named name: String, to json: inout JSONWriter) {
        if isSecret(name) { return json.string(redacted(value.rawBytes.count)) }
        if value.isObject {
            json.beginObject()
            for member in value.members {
                json.name(text(member.name, named: ""))
                write(member.value, named: member.name, to: &json)
            }
            json.endObject()
        } else if value.isArray {
            json.beginArray()
            for element in value.elements { write(element, named: "", to: &json) }
            json.endArray()
        } else if let string = value.string {
            json.string(text(string, named: ""))
        } else {
            json.raw(Array(value.rawBytes))
        }
    }

    private static func isSecret(_ name: String) -> Bool {
        let plain = name.lowercased().filter { $0.isLetter || $0.isNumber }
        return plain.hasSuffix("key") || secretNames.contains { plain.contains($0) }
            || words(name).contains { secretWords.contains($0) }
    }

    /// Returns the words of a name such as `smtp_pass` or `smtpPass`, in lower case.
    private static func words(_ name: String) -> [String] {
        var words = [""]
        var wasLower = false
        for character in name {
            if !character.isLetter || character.isUppercase && wasLower { words.append("") }
            if character.isLetter { words[words.count - 1] += character.lowercased() }
            wasLower = character.isLowercase
        }
        return words
    }

    /// Returns a string that holds JSON without the secrets in it; nil for any other string.
    private static func nested(_ string: String) -> String? {
        guard let root = try? JSONDocument(parsing: Array(string.utf8)).root else { return nil }
        guard root.isObject || root.isArray || root.string != nil else { return nil }
        var json = JSONWriter()
        write(root, named: "", to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Returns `text` without its opaque words, or only its size if its name is a secret's.
    private static func text(_ text: String, named name: String) -> String {
        if isSecret(name) { return redacted(text.utf8.count) }
        if let nested = nested(text) { return nested }
        return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let isToken = word.contains("eyJ") || word.split(separator: ".").count > 2 && word.utf8.count > 30
            return isToken || word.utf8.count >= opaqueLength ? redacted(word.utf8.count) : String(word)
        }.joined(separator: " ")
    }

    /// Returns the id of a user, or another short word, without a token in it.
    static func withoutTokens(_ text: String) -> String {
        text.contains("eyJ") && text.split(separator: ".").count > 2 ? redacted(text.utf8.count) : text
    }

    private static func redacted(_ bytes: Int) -> String { "(redacted, \(bytes.of("byte")))" }
}
