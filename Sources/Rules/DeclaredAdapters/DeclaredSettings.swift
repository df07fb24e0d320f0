package import AdapterKit

/// The settings of an app of a declared vendor: the file's keys, with the app's values.
package struct DeclaredSettings: AdapterSettings {
    /// The vendor whose settings these are.
    package let description: VendorDescription
    /// The effective values by key, defaults among them.
    let values: [String: SettingValue]

    /// None: the file declares the keys.
    package static let keys: [SettingKey] = []

    /// Always fails: settings alone do not show their vendor.
    package init(from decoder: any Decoder) throws {
        throw SettingsError("", "a declared vendor's settings need its file")
    }

    /// Decodes the settings of `description` from `decoder`.
    ///
    /// - Throws: `SettingsError` for keys that are missing, unknown or impossible, `DecodingError` for another type.
    init(_ description: VendorDescription, from decoder: any Decoder) throws {
        self.description = description
        let container = try decoder.settings()
        let known = Set(description.settings.map(\.name))
        if let unknown = container.allKeys.first(where: { !known.contains($0.stringValue) }) {
            throw SettingsError(unknown.stringValue, "is not known; known: \(known.sorted().joined(separator: ", "))")
        }
        var values: [String: SettingValue] = [:]
        for setting in description.settings {
            let value = try setting.value(in: container) ?? setting.standard
            if value == nil, setting.isRequired { throw SettingsError(setting.name, "is missing: \(setting.about)") }
            values[setting.name] = value
        }
        self.values = values
    }
}

extension DeclaredSetting {
    /// Returns the value in `container`; nil where there is none.
    fileprivate func value(in container: KeyedDecodingContainer<SettingCodingKey>) throws -> SettingValue? {
        switch kind {
        case .boolean: return try container.optional(name, as: Bool.self).map { .boolean($0) }
        case .integer: return try container.optional(name, as: Int64.self).map { .integer($0) }
        case .texts: return try container.optional(name, as: [String].self).map { .texts($0) }
        case .text, .choice, .algorithm, .json: break
        }
        guard let text = try container.optional(name, as: String.self) else { return nil }
        guard !text.isEmpty else { throw SettingsError(name, "is empty; \(about)") }
        guard text.utf8.count <= 8192 else { throw SettingsError(name, "is longer than 8192 bytes") }
        switch kind {
        case .choice(let words):
            guard words.contains(text) else {
                throw SettingsError(name, "must be one of \(words.joined(separator: ", "))")
            }
        case .algorithm(let algorithms):
            guard let algorithm = Algorithm(named: text), algorithms.contains(algorithm) else {
                throw SettingsError(name, "must be one of \(algorithms.map(\.rawValue).joined(separator: ", "))")
            }
            return .text(algorithm.rawValue)
        case .json:
            guard let root = try? JSONDocument(parsing: Array(text.utf8)).root else {
                throw SettingsError(name, "is not JSON; \(about)")
            }
            return .json(root.compactJSON)
        default:
            guard prefix.isEmpty || text.hasPrefix(prefix) else {
                throw SettingsError(name, "must begin with \(prefix); \(about)")
            }
            if let form, !form.matches(text.utf8) {
                throw SettingsError(name, "must be \(form.text); \(about)")
            }
        }
        return .text(text)
    }
}

extension JSONValue {
    /// The value without white space between its parts.
    var compactJSON: [UInt8] {
        var json = JSONWriter(capacity: 64)
        write(to: &json)
        return json.bytes
    }

    private func write(to writer: inout JSONWriter) {
        if isObject {
            writer.beginObject()
            for (name, value) in members {
                writer.name(name)
                value.write(to: &writer)
            }
            writer.endObject()
        } else if isArray {
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        } else {
            writer.raw(json)
        }
    }
}
