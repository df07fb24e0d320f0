package import AdapterKit

/// A key of `apps.*.settings` that a file declares.
package struct DeclaredSetting: Sendable {
    /// The type of a key's value.
    package enum Kind: Sendable, Equatable {
        /// A string that is not empty.
        case text
        case boolean
        case integer
        case choice([String])
        /// A JOSE algorithm, one of these.
        case algorithm([Algorithm])
        case texts
        /// A string that is a JSON value.
        case json
    }

    package let name: String
    package let kind: Kind
    /// Whether the app cannot do without it.
    package let isRequired: Bool
    /// The value where the app sets none; nil for no value.
    package let standard: SettingValue?
    /// The prefix that a string must have; empty for any string.
    package let prefix: String
    /// The form that a string must have; nil for any string.
    package let form: TextForm?
    package let about: String

    /// The words a `$one_of` by this setting must know; nil where it has none.
    package var words: [String]? {
        switch kind {
        case .boolean: ["true", "false"]
        case .choice(let words): words
        case .algorithm(let algorithms): algorithms.map(\.rawValue)
        case .text, .integer, .texts, .json: nil
        }
    }

    package var isSure: Bool { isRequired || standard != nil }

    /// The key as the configuration's reader takes it.
    package var key: SettingKey {
        let standard = self.standard.map { "; default \($0.text)" } ?? (isRequired ? "" : "; default none")
        let words = self.words.map { ": \($0.joined(separator: ", "))" } ?? form.map { ", \($0.text)" } ?? ""
        return SettingKey(
            name, kind: kind.key, isRequired: isRequired, standard: self.standard?.text,
            summary: "\(about) (\(kind.word)\(words)\(standard))")
    }
}

extension DeclaredSetting.Kind {
    /// The kind as the configuration's reader takes it.
    fileprivate var key: SettingKey.Kind {
        switch self {
        case .text, .json: .text
        case .boolean: .boolean
        case .integer: .integer
        case .choice(let words): .choice(words)
        case .algorithm(let algorithms): .choice(algorithms.flatMap(\.names))
        case .texts: .texts
        }
    }

    /// The type's name in a file.
    package var word: String {
        switch self {
        case .text: "text"
        case .boolean: "boolean"
        case .integer: "integer"
        case .choice: "choice"
        case .algorithm: "algorithm"
        case .texts: "texts"
        case .json: "json"
        }
    }
}

/// The value of a setting.
package enum SettingValue: Sendable, Equatable {
    case text(String)
    case boolean(Bool)
    case integer(Int64)
    case texts([String])
    case json([UInt8])

    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 32)
        switch self {
        case .text(let text): writer.string(text)
        case .boolean(let boolean): writer.bool(boolean)
        case .integer(let integer): writer.integer(integer)
        case .texts(let texts):
            writer.beginArray()
            for text in texts { writer.string(text) }
            writer.endArray()
        case .json(let json): writer.raw(json)
        }
        return writer.bytes
    }

    package var text: String {
        switch self {
        case .text(let text): text
        case .boolean, .integer, .texts, .json: String(decoding: json, as: UTF8.self)
        }
    }
}

/// A form that a string must have.
package enum TextForm: String, Sendable, CaseIterable {
    /// A UUID in lower case, with hyphens.
    case uuid

    package var text: String {
        switch self {
        case .uuid: "a UUID in lower case"
        }
    }

    /// Returns whether a string of these bytes has the form.
    func matches(_ bytes: some Collection<UInt8>) -> Bool {
        switch self {
        case .uuid:
            var count = 0
            for byte in bytes {
                let isRight =
                    switch count {
                    case 8, 13, 18, 23: byte == UInt8(ascii: "-")
                    default: Self.isLowerHex(byte)
                    }
                guard isRight else { return false }
                count += 1
            }
            return count == 36
        }
    }

    private static func isLowerHex(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}

/// The strings that a member of `vouched` may be, or the elements of a list of strings.
package enum AllowedStrings: Sendable, Equatable {
    case any
    case words([String])
    case form(TextForm)

    /// The rule in an error and on the page; nil where there is none.
    package var text: String? {
        switch self {
        case .any: nil
        case .words(let words): "one of \(words.joined(separator: ", "))"
        case .form(let form): form.text
        }
    }

    func contain(_ bytes: some Collection<UInt8>) -> Bool {
        switch self {
        case .any: true
        case .words(let words): words.contains { $0.utf8.elementsEqual(bytes) }
        case .form(let form): form.matches(bytes)
        }
    }
}
