import Formats

/// The JSON Schema of vendors' files (draft 2020-12), made from the keys' declarations, for completion and checks in
/// editors. It covers the names and the types; `remint adapter lint` covers rules between keys.
package enum FileSchema {
    private typealias Members = [(name: String, value: SchemaValue)]

    /// The schema's text.
    package static var text: String {
        var definitions: Members = []
        let file = schema(of: .section(FileKeys.all), &definitions)
        let head: Members = [
            ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
            ("$comment", .text("Made by: remint adapter schema")),
            ("title", .text("A vendor of Remint in one file")),
        ]
        return SchemaValue.object(head + file + [("$defs", .object(definitions))]).lines
    }

    /// Returns the schema of a value of `form`. Adds the schemas of the shared forms in it to `definitions`.
    private static func schema(of form: FileForm, _ definitions: inout Members) -> Members {
        switch form {
        case .text(let pattern):
            return [("type", .text("string"))] + (pattern.map { [("pattern", .text($0))] } ?? [])
        case .bool: return [("type", .text("boolean"))]
        case .integer(let range):
            return [
                ("type", .text("integer")), ("minimum", .number("\(range.lowerBound)")),
                ("maximum", .number("\(range.upperBound)")),
            ]
        case .words(let words): return [("enum", .texts(words))]
        case .scalar: return [("type", .texts(["string", "number", "boolean"]))]
        case .any: return []
        case .object: return [("type", .text("object"))]
        case .mapping(let form):
            return [("type", .text("object")), ("additionalProperties", .object(schema(of: form, &definitions)))]
        case .section(let keys): return section(keys, &definitions)
        case .list(let form, let least):
            let count: Members = least == 0 ? [] : [("minItems", .number("\(least)"))]
            return [("type", .text("array"))] + count + [("items", .object(schema(of: form, &definitions)))]
        case .either(let forms):
            return [("anyOf", .array(forms.map { .object(schema(of: $0, &definitions)) }))]
        case .shared(let name, let form, let summary):
            if !definitions.contains(where: { $0.name == name }) {
                let schema = schema(of: form, &definitions)
                definitions.append((name, .object(described(summary) + schema)))
            }
            return [("$ref", .text("#/$defs/\(name)"))]
        }
    }

    private static func section(_ keys: [FileKeyDescription], _ definitions: inout Members) -> Members {
        let properties = keys.map { key in
            (name: key.name, value: SchemaValue.object(described(key.summary) + schema(of: key.form, &definitions)))
        }
        let required = keys.filter(\.isRequired).map(\.name)
        return [("type", .text("object")), ("additionalProperties", .bool(false))]
            + (required.isEmpty ? [] : [("required", .texts(required))]) + [("properties", .object(properties))]
    }

    private static func described(_ summary: String) -> Members {
        summary.isEmpty ? [] : [("description", .text(summary))]
    }
}
