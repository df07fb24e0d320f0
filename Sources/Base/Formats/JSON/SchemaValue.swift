/// A JSON value whose members keep their order, written so that people can read it too: the schema is a page of the repository.
package enum SchemaValue: Sendable {
    case object([(name: String, value: SchemaValue)])
    case array([SchemaValue])
    case text(String)
    /// A number as it is written.
    case number(String)
    case bool(Bool)

    package static func texts(_ texts: [String]) -> SchemaValue { .array(texts.map { .text($0) }) }

    /// The value on lines, two spaces deeper for each level; plain values that stand alone or in a list stay on one.
    package var lines: String {
        var text = ""
        write(to: &text, indent: 0)
        return text + "\n"
    }

    private var isPlain: Bool {
        switch self {
        case .object, .array: false
        case .text, .number, .bool: true
        }
    }

    private func write(to text: inout String, indent: Int) {
        switch self {
        case .text(let value):
            var json = JSONWriter(capacity: value.utf8.count + 2)
            json.string(value)
            text += String(decoding: json.bytes, as: UTF8.self)
        case .number(let number): text += number
        case .bool(let bool): text += bool ? "true" : "false"
        case .array(let elements) where elements.allSatisfy(\.isPlain):
            text += "["
            for (index, element) in elements.enumerated() {
                text += index == 0 ? "" : ", "
                element.write(to: &text, indent: indent)
            }
            text += "]"
        case .array(let elements):
            Self.write(elements.map { ("", $0) }, in: ("[", "]"), to: &text, indent: indent)
        case .object(let members) where members.count <= 1 && members.allSatisfy(\.value.isPlain):
            text += "{"
            for member in members {
                text += " \(Self.quoted(member.name)): "
                member.value.write(to: &text, indent: indent)
                text += " "
            }
            text += "}"
        case .object(let members):
            let named = members.map { (name: Self.quoted($0.name) + ": ", value: $0.value) }
            Self.write(named, in: ("{", "}"), to: &text, indent: indent)
        }
    }

    private static func write(
        _ members: [(name: String, value: SchemaValue)], in brackets: (open: String, close: String),
        to text: inout String, indent: Int
    ) {
        let space = String(repeating: " ", count: indent + 2)
        text += brackets.open
        for (index, member) in members.enumerated() {
            text += (index == 0 ? "\n" : ",\n") + space + member.name
            member.value.write(to: &text, indent: indent + 2)
        }
        text += "\n" + space.dropLast(2) + brackets.close
    }

    private static func quoted(_ name: String) -> String {
        var json = JSONWriter(capacity: name.utf8.count + 2)
        json.string(name)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
