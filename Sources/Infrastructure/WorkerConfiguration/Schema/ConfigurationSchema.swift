package import AdapterKit
import Formats
import YAMLReading

/// The JSON Schema of `remint.yaml`, made from the keys' declarations, with the settings of each adapter.
public struct ConfigurationSchema {
    private typealias Members = FormSchema.Members

    private let registry: AdapterRegistry
    private var forms: FormSchema

    package init(registry: AdapterRegistry) {
        self.registry = registry
        forms = FormSchema(adapters: registry.registrations.map(\.name))
    }

    package var text: String {
        var schema = self
        return schema.value.lines
    }

    private var value: SchemaValue {
        mutating get {
            // The keys without a section stand at the top, as sections do.
            let keys = Configuration.sections.filter { $0.name.isEmpty }.flatMap(\.keys)
            let sections = Configuration.sections.filter { !$0.name.isEmpty }
            let head: Members = [
                (
                    "description",
                    .text(
                        "Remint's configuration. remint check --config FILE checks the values that depend on each other."
                    )
                ),
                ("type", .text("object")),
            ]
            return .object(
                FormSchema.head(by: "remint config schema", title: "remint.yaml") + head
                    + members(keys, sections, path: "") + [("$defs", definitions)])
        }
    }

    // MARK: Sections and keys

    private mutating func schema(of section: SectionDescription, path: String) -> SchemaValue {
        var schema: Members = [("title", .text(path))]
        if !section.summary.isEmpty { schema.append(("description", .text(section.summary))) }
        // A name without anything under it is as good as none, unless the section has to be there.
        let isNeeded = section.absence == .refused || section.keys.contains(where: \.isRequired)
        schema.append(("type", isNeeded ? .text("object") : .texts(["object", "null"])))
        guard let each = section.each else {
            return .object(schema + members(section.keys, section.sections, path: path))
        }
        if section.absence == .refused { schema.append(("minProperties", .number("1"))) }
        schema.append(("additionalProperties", self.schema(of: each, path: "\(path).NAME")))
        return .object(schema)
    }

    private mutating func members(_ keys: [KeyDescription], _ sections: [SectionDescription], path: String) -> Members {
        let prefix = path.isEmpty ? "" : "\(path)."
        let properties =
            keys.map { (name: $0.name, value: schema(of: $0, path: prefix + $0.name)) }
            + sections.map { (name: $0.name, value: schema(of: $0, path: prefix + $0.name)) }
        let required =
            keys.filter(\.isRequired).map(\.name) + sections.filter { $0.absence == .refused }.map(\.name)
        var members: Members = [("additionalProperties", .bool(false)), ("properties", .object(properties))]
        if !required.isEmpty { members.append(("required", .texts(required))) }
        if keys.contains(where: { $0.form == .settings }) { members.append(("allOf", settingsByAdapter)) }
        return members
    }

    private mutating func schema(of key: KeyDescription, path: String) -> SchemaValue {
        let bounds = key.form.bounds.map { " (\($0))" } ?? ""
        let change = key.change == .needsRestart ? " A change needs a restart." : ""
        var schema: Members = [("title", .text(path)), ("description", .text(key.summary + bounds + change))]
        schema += forms.schema(of: key.form)
        if let standard = key.standard { schema.append(("default", key.form.json(of: standard))) }
        if let example = key.example, ![.settings, .properties, .mapping(of: .scalar), .any].contains(key.form) {
            schema.append(("examples", .array([key.form.json(of: example)])))
        }
        // To be written, never to be shown.
        if key.isSecret { schema.append(("writeOnly", .bool(true))) }
        return .object(schema)
    }

    // MARK: Adapters' settings

    /// The rules that select an app's settings by its `adapter`.
    private var settingsByAdapter: SchemaValue {
        let (adapter, settings) = (Configuration.App.adapterKey.name, Configuration.App.settingsKey.name)
        return .array(
            registry.registrations.map { registration in
                let its = SchemaValue.object([("$ref", .text("#/$defs/\(definition(registration))"))])
                let name = SchemaValue.object([("const", .text(registration.name))])
                let isNeeded = registration.settings.contains(where: \.isRequired)
                let condition: Members = [
                    ("properties", .object([(adapter, name)])), ("required", .texts([adapter])),
                ]
                let rule: Members =
                    [("properties", .object([(settings, its)]))] + (isNeeded ? [("required", .texts([settings]))] : [])
                return .object([("if", .object(condition)), ("then", .object(rule))])
            })
    }

    private func definition(_ registration: AdapterRegistry.Registration) -> String { "settings-\(registration.name)" }

    private var definitions: SchemaValue {
        mutating get {
            .object(
                [("reference", .object(FormSchema.reference))]
                    + registry.registrations.map { (name: definition($0), value: settings(of: $0)) })
        }
    }

    private mutating func settings(of registration: AdapterRegistry.Registration) -> SchemaValue {
        let required = registration.settings.filter(\.isRequired).map(\.name)
        let properties = registration.settings.map { key in
            var schema: Members = [
                ("title", .text("apps.NAME.settings.\(key.name)")), ("description", .text(key.summary)),
            ]
            schema += forms.schema(of: key.form)
            if let standard = key.standard { schema.append(("default", key.form.json(of: standard))) }
            return (name: key.name, value: SchemaValue.object(schema))
        }
        return .object(
            [
                ("title", .text("apps.NAME.settings of \(registration.vendor)")),
                ("type", required.isEmpty ? .texts(["object", "null"]) : .text("object")),
                ("additionalProperties", .bool(false)), ("properties", .object(properties)),
            ] + (required.isEmpty ? [] : [("required", .texts(required))]))
    }
}

extension SettingKey {
    fileprivate var form: FileForm {
        switch kind {
        case .text: .text()
        case .boolean: .bool
        case .integer: .integer(Int.min...Int.max)
        case .choice(let words): .choice(words)
        case .texts: .list(of: .text(), count: 1...Int.max)
        }
    }
}
