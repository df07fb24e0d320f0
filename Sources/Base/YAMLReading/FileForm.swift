package import Formats
import Yams

/// The form of a value in a file, with its bounds. Readers enforce it, messages and pages show it, and schemas are made of it.
package indirect enum FileForm: Sendable, Equatable {
    /// A duration such as `20ms`, `10s` or `12h`.
    case duration(ClosedRange<Duration>)
    /// A number of bytes, alone or with `kB`, `MB` or `GB`.
    case bytes(ClosedRange<Int>)
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    /// A share, such as `10%`.
    case share(ClosedRange<Double>)
    case bool
    case choice([String])
    /// A string, which matches the pattern if there is one.
    case text(pattern: String? = nil)
    /// The name of an adapter, or the path of a vendor's file.
    case adapter
    /// `host:port`.
    case address
    /// A URL that begins with https:// or http://.
    case url
    /// A scheme and a host, and a port where it is not the scheme's own.
    case origin
    /// Requests a second or a minute: `4/s`, `200/m`.
    case rate
    case topic
    /// 64 hexadecimal digits.
    case digest
    /// The path of a file or a folder, relative to the file that names it.
    case path
    /// A list of values whose count is in the range, as in `[a, b]`.
    case list(of: FileForm, count: ClosedRange<Int> = 0...Int.max)
    case mapping(of: FileForm)
    case properties
    case settings
    case scalar
    case object
    case any
    /// A mapping of declared keys.
    case section([KeyDescription])
    case either([FileForm])
    /// A form that stands at many places: a schema describes it once, under its name.
    case shared(String, FileForm, summary: String = "")

    package static func oneOrMore(_ form: FileForm) -> FileForm { .either([form, .list(of: form)]) }

    /// The bounds or the words, for documentation; nil where there are none.
    package var bounds: String? {
        switch self {
        case .duration(let range):
            "\(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        case .bytes(let range): "\(ByteCount.format(range.lowerBound)) to \(ByteCount.format(range.upperBound))"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .share(let range): "\(Share.format(range.lowerBound)) to \(Share.format(range.upperBound))"
        case .choice(let words): words.joined(separator: ", ")
        default: nil
        }
    }

    /// The keys of a section; nil for any other form.
    package var keys: [KeyDescription]? {
        switch self {
        case .section(let keys): keys
        case .shared(_, let form, _): form.keys
        default: nil
        }
    }

    /// The pattern of a string of this form. It matches everything that the reader accepts, apart from bounds.
    fileprivate var pattern: String {
        switch self {
        case .duration(let range): (range.contains(.zero) ? "[0-9]+" : "0*[1-9][0-9]*") + "(ms|s|m|h|d)"
        case .bytes: "[0-9]+ *(kB|MB|GB)?"
        case .share: "([0-9]+(\\.[0-9]*)?|\\.[0-9]+)%"
        case .rate: "[0-9]+/[sm]"
        case .address: ".+:[0-9]{1,5}"
        case .url: "[Hh][Tt][Tt][Pp][Ss]?://[^/?#@]+(/[^?#]*)?"
        case .origin: "(https?|capacitor|ionic|tauri|(chrome|moz)-extension)://[^/?#@A-Z]+"
        case .topic: "[A-Za-z0-9._-]{1,249}"
        case .digest: "[0-9A-Fa-f]{64}"
        default: ".+"
        }
    }

    package func json(of text: String) -> SchemaValue {
        switch self {
        case .integer, .number: return text.contains("$") ? .text(text) : .number(text)
        case .bool: return text == "true" || text == "false" ? .bool(text == "true") : .text(text)
        case .list(let element, _):
            let elements = (try? Yams.compose(yaml: text))?.sequence?.compactMap { $0.scalar?.string } ?? []
            return .array(elements.map { element.json(of: $0) })
        default: return .text(text)
        }
    }
}

/// Makes JSON Schemas (draft 2020-12) of forms, for completion and checks in editors. They cover names, types, words and
/// bounds; rules between keys are left to the readers.
package struct FormSchema {
    package typealias Members = [(name: String, value: SchemaValue)]

    /// The adapters that a file may name and the environment that its values may come from; nil for a file without both.
    private let adapters: [String]?
    package private(set) var definitions: Members = []

    /// - Parameter adapters: the adapters that a configuration may name; nil for a vendor's file, whose values never come
    ///   from the environment.
    package init(adapters: [String]?) { self.adapters = adapters }

    package static func head(by maker: String, title: String) -> Members {
        [
            ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
            ("$comment", .text("Made by: \(maker)")),
            ("title", .text(title)),
        ]
    }

    package static let reference: Members = [
        ("description", .text("${NAME} or ${NAME:-default}: the environment has the value.")),
        ("type", .text("string")), ("pattern", .text("\\$\\{")),
    ]

    /// Returns the schema of a value of `form`. It refuses nothing that the reader accepts in one of the usual spellings.
    package mutating func schema(of form: FileForm) -> Members {
        switch form {
        case .duration, .rate, .address, .url, .origin, .topic, .digest: return text(form.pattern)
        case .text(let pattern):
            guard adapters == nil else { return scalar + [("minLength", .number("1"))] }
            return [("type", .text("string"))] + (pattern.map { [("pattern", .text($0))] } ?? [])
        case .path: return [("type", .texts(["string", "number"])), ("minLength", .number("1"))]
        case .adapter: return any([[("enum", .texts(adapters ?? []))], text("[^$]*/[^$]*|[^$]+\\.ya?ml")])
        case .choice(let words): return single([("enum", .texts(words))])
        case .bool: return single([("type", .text("boolean"))])
        // Whole numbers without bounds of their own.
        case .integer(Int.min...Int.max): return single([("type", .text("integer"))])
        case .integer(let range): return single(within("integer", range))
        case .number(let range): return single(within("number", range))
        case .bytes(let range): return any([within("integer", range), text(form.pattern)])
        case .share(let range): return any([within("number", range), text(form.pattern)])
        case .list(let element, let count): return list(of: schema(of: element), count)
        case .mapping(let form): return mapping + [("additionalProperties", .object(schema(of: form)))]
        case .properties: return mapping + [("additionalProperties", .object(scalar))]
        case .settings: return mapping
        case .scalar: return scalar
        case .object: return [("type", .text("object"))]
        case .any: return []
        case .section(let keys): return section(keys)
        case .either(let forms): return any(forms.map { schema(of: $0) })
        case .shared(let name, let form, let summary):
            if !definitions.contains(where: { $0.name == name }) {
                let schema = schema(of: form)
                definitions.append((name, .object(described(summary) + schema)))
            }
            return [("$ref", .text("#/$defs/\(name)"))]
        }
    }

    private mutating func section(_ keys: [KeyDescription]) -> Members {
        let properties = keys.map { key in
            (name: key.name, value: SchemaValue.object(described(key.summary) + schema(of: key.form)))
        }
        let required = keys.filter(\.isRequired).map(\.name)
        return [("type", .text("object")), ("additionalProperties", .bool(false))]
            + (required.isEmpty ? [] : [("required", .texts(required))]) + [("properties", .object(properties))]
    }

    private func described(_ summary: String) -> Members {
        summary.isEmpty ? [] : [("description", .text(summary))]
    }

    private var scalar: Members { [("type", .texts(["string", "number", "boolean"]))] }
    private var mapping: Members { [("type", adapters == nil ? .text("object") : .texts(["object", "null"]))] }

    private func list(of element: Members, _ count: ClosedRange<Int>) -> Members {
        let items: Members = [("items", .object(element))]
        let least: Members = count.lowerBound == 0 ? [] : [("minItems", .number("\(count.lowerBound)"))]
        let most: Members = count.upperBound == .max ? [] : [("maxItems", .number("\(count.upperBound)"))]
        return [("type", .text("array"))] + (adapters == nil ? least + most + items : items + least + most)
    }

    /// Returns the schema of a value that is as in `schema`, or a reference to the environment where the file may have one.
    private func single(_ schema: Members) -> Members {
        adapters == nil ? schema : any([schema, [("$ref", .text("#/$defs/reference"))]])
    }

    private func text(_ pattern: String) -> Members {
        [("type", .text("string")), ("pattern", .text("^(\(pattern))$|\\$\\{"))]
    }

    private func within(_ type: String, _ range: ClosedRange<some CustomStringConvertible>) -> Members {
        [
            ("type", .text(type)), ("minimum", .number("\(range.lowerBound)")),
            ("maximum", .number("\(range.upperBound)")),
        ]
    }

    private func any(_ choices: [Members]) -> Members { [("anyOf", .array(choices.map { .object($0) }))] }
}
