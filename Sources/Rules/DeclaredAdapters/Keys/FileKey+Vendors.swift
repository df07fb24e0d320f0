import AdapterKit
import YAMLReading
import Yams

// The forms and the keys that only vendors' files have.

extension FileForm {
    static let texts = shared("texts", oneOrMore(.text()))

    static let paths = shared(
        "paths", .either([.text(), .list(of: oneOrMore(.text()))]),
        summary: "Members of a report, with dots between the names of nested ones; the first that holds a value counts."
    )

    static let moment = shared(
        "moment", .scalar, summary: "A time such as 2026-11-25T12:00:00Z, or seconds since 1970.")

    static let answer = shared(
        "answer", .text(pattern: "^[^ ]+ .+$"),
        summary: "The vendor's code, a space, its name; a hyphen where the vendor has no code.")
}

extension FileKey where Value == Int64 {
    static func seconds(
        _ name: String, in range: ClosedRange<Duration>, isRequired: Bool = false, _ summary: String = ""
    ) -> FileKey {
        FileKey(
            name, .shared("duration", .text(pattern: "^[0-9]+(ms|s|m|h|d)$")), isRequired: isRequired, summary
        ) { $0.duration($1, in: range)?.components.seconds }
    }
}

extension FileKey where Value: Sendable {
    static func word(_ name: String, _ words: [String: Value], _ summary: String = "") -> FileKey {
        let known = words.keys.sorted()
        return FileKey(name, .choice(known), isRequired: true, summary) { section, name in
            guard let (text, node) = section.requiredText(name) else { return nil }
            if let value = words[text] { return value }
            section.diagnostics.error(node, "\(section.path(name)) must be one of \(known.joined(separator: ", "))")
            return nil
        }
    }
}

extension FileKey where Value == [String] {
    static func texts(_ name: String, isRequired: Bool = false, _ summary: String = "") -> FileKey {
        FileKey(name, .texts, isRequired: isRequired, summary) { section, name in
            guard let node = section.value(name) else { return nil }
            if let texts = node.texts { return texts }
            section.diagnostics.error(node, "\(section.path(name)) must be a string or a list of strings")
            return nil
        }
    }
}

extension Node {
    /// The texts of a list, or the single text; nil for any other value, and for a list of more than 256.
    var texts: [String]? {
        if let scalar { return [scalar.string] }
        guard let sequence, sequence.count <= 256 else { return nil }
        let texts = sequence.compactMap { $0.scalar?.string }
        return texts.count == sequence.count ? texts : nil
    }
}
