/// What an adapter can be told about an app, under `apps.*.settings`.
///
/// A missing `settings` decodes from an empty mapping. The keys are listed, so that a misspelt one is refused with its
/// line and the nearest known name, and so that the manual can name them all.
public protocol AdapterSettings: Decodable, Sendable {
    /// Every key, in the order of the manual.
    static var keys: [SettingKey] { get }
}

/// One key under `apps.*.settings`.
public struct SettingKey: Sendable, Equatable {
    /// The key as it is written.
    public let name: String
    /// Whether the app cannot do without it.
    public let isRequired: Bool
    /// What it means, its type and its default, in a line.
    public let summary: String

    /// A key of this name.
    public init(_ name: String, isRequired: Bool = false, _ summary: String) {
        self.name = name
        self.isRequired = isRequired
        self.summary = summary
    }
}

/// A setting that has the right type and still cannot be meant.
public struct SettingsError: Error, Sendable, Equatable {
    /// The key.
    public let key: String
    /// What is wrong and what would be right.
    public let message: String

    /// The setting `key` is refused because of `message`.
    public init(_ key: String, _ message: String) {
        self.key = key
        self.message = message
    }
}

/// The key of a setting in a decoder.
public struct SettingCodingKey: CodingKey, Sendable {
    public let stringValue: String
    public var intValue: Int? { nil }
    public init(stringValue: String) { self.stringValue = stringValue }
    public init?(intValue: Int) { nil }
}

extension Decoder {
    /// The settings' mapping.
    public func settings() throws -> KeyedDecodingContainer<SettingCodingKey> {
        try container(keyedBy: SettingCodingKey.self)
    }
}

extension KeyedDecodingContainer where Key == SettingCodingKey {
    /// The value of `name`, which must be there.
    public func required<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        try decode(type, forKey: SettingCodingKey(stringValue: name))
    }

    /// The value of `name`, or nil where it is absent or null.
    public func optional<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
        try decodeIfPresent(type, forKey: SettingCodingKey(stringValue: name))
    }
}
