import Formats
import YAMLReading

/// The JSON Schema of vendors' files, made from the keys' declarations.
package enum FileSchema {
    /// The schema's text.
    package static var text: String {
        var schema = FormSchema(adapters: nil)
        let file = schema.schema(of: .section(FileKeys.all))
        let head = FormSchema.head(by: "remint adapter schema", title: "A vendor of Remint in one file")
        return SchemaValue.object(head + file + [("$defs", .object(schema.definitions))]).lines
    }
}
