/// A form that a string must have.
package enum TextForm: String, Sendable, CaseIterable {
    /// A UUID in lower case, with hyphens.
    case uuid

    /// The form in an error.
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
    /// The words of this list.
    case words([String])
    /// The strings of this form.
    case form(TextForm)

    /// The rule in an error and on the page; nil where there is none.
    package var text: String? {
        switch self {
        case .any: nil
        case .words(let words): "one of \(words.joined(separator: ", "))"
        case .form(let form): form.text
        }
    }

    /// Returns whether a string of these bytes is allowed.
    func contain(_ bytes: some Collection<UInt8>) -> Bool {
        switch self {
        case .any: true
        case .words(let words): words.contains { $0.utf8.elementsEqual(bytes) }
        case .form(let form): form.matches(bytes)
        }
    }
}
