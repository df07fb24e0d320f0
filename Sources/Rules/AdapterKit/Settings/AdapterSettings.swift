/// The settings of an app that an adapter accepts, under `apps.*.settings`.
///
/// A missing `settings` decodes from an empty mapping. The keys are listed, so that a misspelt one is refused with its
/// line and the nearest known name, and so that the manual can name them all.
public protocol AdapterSettings: Decodable, Sendable {
    /// Every key, in the order of the manual.
    static var keys: [SettingKey] { get }
}

/// A key under `apps.*.settings`.
public struct SettingKey: Sendable, Equatable {
    /// The type of a key's value.
    @nonexhaustive public enum Kind: Sendable, Equatable {
        /// A string that is not empty.
        case text
        /// `true` or `false`.
        case boolean
        /// A whole number.
        case integer
        /// A word of this list.
        case choice([String])
        /// A list of texts, one at least.
        case texts
    }

    /// The key as it is written.
    public let name: String
    /// The type of the key's value.
    public let kind: Kind
    /// Whether the app cannot do without it.
    public let isRequired: Bool
    /// The value of a key that is left out, as the configuration writes it; nil where that is no single value.
    public let standard: String?
    /// The key's meaning, type and default, in a line.
    public let summary: String
    /// Whether the vendor's values are UUIDs.
    public private(set) var isUUID = false

    /// The same key, whose values are UUIDs.
    public var ofUUIDs: SettingKey {
        var key = self
        key.isUUID = true
        return key
    }

    /// A key of this name.
    ///
    /// - Parameter meaning: the key's meaning; the summary adds the default behind it.
    public init(
        _ name: String, kind: Kind = .text, isRequired: Bool = false, standard: String? = nil, _ meaning: String
    ) {
        let isSaid = standard.map { "; default \($0)" } ?? ""
        self.init(name, kind: kind, isRequired: isRequired, standard: standard, summary: meaning + isSaid)
    }

    /// A key of this name whose `summary` contains its default already.
    public init(_ name: String, kind: Kind, isRequired: Bool, standard: String?, summary: String) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.standard = standard
        self.summary = summary
    }
}

/// A setting that has the right type and still cannot be meant.
public struct SettingsError: Error, Sendable, Equatable {
    /// The key.
    public let key: String
    /// The mistake and its correction.
    public let message: String

    /// The setting `key` is refused because of `message`.
    public init(_ key: String, _ message: String) {
        self.key = key
        self.message = message
    }
}

/// The key of a setting in a decoder.
public struct SettingCodingKey: CodingKey, Sendable {
    /// The setting's name.
    public let stringValue: String
    /// nil: settings have names, not numbers.
    public var intValue: Int? { nil }
    /// The key of this name.
    public init(stringValue: String) { self.stringValue = stringValue }
    /// Returns nil for any number.
    public init?(intValue: Int) { nil }
}

extension Decoder {
    /// Returns the settings' mapping.
    public func settings() throws -> KeyedDecodingContainer<SettingCodingKey> {
        try container(keyedBy: SettingCodingKey.self)
    }
}

extension KeyedDecodingContainer where Key == SettingCodingKey {
    /// Returns the value of `name`, which must be present.
    public func required<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        try decode(type, forKey: SettingCodingKey(stringValue: name))
    }

    /// Returns the value of `name`; nil where it is absent or null.
    public func optional<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
        try decodeIfPresent(type, forKey: SettingCodingKey(stringValue: name))
    }
}
