import Formats
import Yams

extension ValueForm {
    /// Returns the schema of such a value for editors. It refuses nothing that the reader accepts in one of the usual
    /// spellings: any single value may be a reference to the environment.
    func schema(adapters: [String]) -> [(name: String, value: SchemaValue)] {
        switch self {
        case .duration, .rate, .address, .url, .origin, .topic, .digest:
            return Self.text(pattern)
        case .text: return [("type", .texts(["string", "number", "boolean"])), ("minLength", .number("1"))]
        case .path: return [("type", .texts(["string", "number"])), ("minLength", .number("1"))]
        case .adapter:
            return Self.any([[("enum", .texts(adapters))], Self.text("[^$]*/[^$]*|[^$]+\\.ya?ml")])
        case .choice(let words): return Self.any([[("enum", .texts(words))], Self.reference])
        case .bool: return Self.any([[("type", .text("boolean"))], Self.reference])
        // Whole numbers without bounds of their own.
        case .integer(Int.min...Int.max): return Self.any([[("type", .text("integer"))], Self.reference])
        case .integer(let range):
            return Self.any([Self.within("integer", "\(range.lowerBound)", "\(range.upperBound)"), Self.reference])
        case .number(let range):
            return Self.any([Self.within("number", "\(range.lowerBound)", "\(range.upperBound)"), Self.reference])
        case .bytes(let range):
            return Self.any([Self.within("integer", "\(range.lowerBound)", "\(range.upperBound)"), Self.text(pattern)])
        case .share(let range):
            return Self.any([Self.within("number", "\(range.lowerBound)", "\(range.upperBound)"), Self.text(pattern)])
        case .list(let element, let count):
            let most: [(name: String, value: SchemaValue)] =
                count.upperBound == .max ? [] : [("maxItems", .number("\(count.upperBound)"))]
            return [
                ("type", .text("array")), ("items", .object(element.schema(adapters: adapters))),
                ("minItems", .number("\(count.lowerBound)")),
            ] + most
        case .properties, .texts:
            return [
                ("type", .texts(["object", "null"])),
                ("additionalProperties", .object([("type", .texts(["string", "number", "boolean"]))])),
            ]
        case .settings: return [("type", .texts(["object", "null"]))]
        case .json: return []
        }
    }

    /// The pattern of a string of this form. It matches everything that the reader accepts, apart from bounds.
    private var pattern: String {
        switch self {
        case .duration(let range):
            (range.contains(.zero) ? "[0-9]+" : "0*[1-9][0-9]*") + "(ms|s|m|h|d)"
        case .bytes: "[0-9]+ *(kB|MB|GB)?"
        case .share: "([0-9]+(\\.[0-9]*)?|\\.[0-9]+)%"
        case .rate: "[0-9]+/[sm]"
        case .address: ".+:[0-9]{1,5}"
        case .url: "[Hh][Tt][Tt][Pp][Ss]?://[^/?#@]+(/[^?#]*)?"
        case .origin: "(https?|capacitor|ionic|tauri|(chrome|moz)-extension)://[^/?#@A-Z]+"
        case .topic: "[A-Za-z0-9._-]{1,249}"
        case .digest: "[0-9A-Fa-f]{64}"
        case .integer, .number, .bool, .choice, .text, .adapter, .path, .list, .properties, .texts, .settings, .json:
            ".+"
        }
    }

    /// The schema of a reference to a value in the environment.
    private static let reference: [(name: String, value: SchemaValue)] = [("$ref", .text("#/$defs/reference"))]

    private static func text(_ pattern: String) -> [(name: String, value: SchemaValue)] {
        [("type", .text("string")), ("pattern", .text("^(\(pattern))$|\\$\\{"))]
    }

    private static func within(_ type: String, _ least: String, _ most: String) -> [(name: String, value: SchemaValue)]
    {
        [("type", .text(type)), ("minimum", .number(least)), ("maximum", .number(most))]
    }

    private static func any(_ choices: [[(name: String, value: SchemaValue)]]) -> [(name: String, value: SchemaValue)] {
        [("anyOf", .array(choices.map { .object($0) }))]
    }

    /// Returns `text`, in the form of the file, as JSON.
    func json(of text: String) -> SchemaValue {
        switch self {
        case .integer, .number: return text.contains("$") ? .text(text) : .number(text)
        case .bool: return text == "true" || text == "false" ? .bool(text == "true") : .text(text)
        case .list(let element, _):
            let elements = (try? Yams.compose(yaml: text))?.sequence?.compactMap { $0.scalar?.string } ?? []
            return .array(elements.map { element.json(of: $0) })
        case .duration, .bytes, .share, .choice, .text, .adapter, .address, .url, .origin, .rate, .topic, .digest,
            .path,
            .properties, .texts, .settings, .json:
            return .text(text)
        }
    }
}
