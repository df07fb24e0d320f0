/// An adapter that a program offers, with the type of its settings erased.
public struct AdapterRegistration: Sendable {
    /// The name in `apps.*.adapter`.
    package let name: String
    /// The vendor's own spelling.
    package let vendor: String
    /// The keys that `apps.*.settings` may hold.
    package let settings: [SettingKey]
    /// The vendor's codes and the response to each; empty where they are in the vendor's file.
    package let codes: [VendorCode]
    /// Decodes the settings and makes the adapter.
    package let make: @Sendable (any Decoder) throws -> any Adapter
    /// The facts about the vendor that the adapter's author does not know, for the person who configures an app.
    package let missingFacts: [String]
    /// The adapter's type; nil for a vendor whose rules are no type of their own.
    private let type: (any Adapter.Type)?

    /// The module of the adapter's type, whose resources have the recorded reports; nil without a type.
    package var module: String? {
        type.flatMap { String(reflecting: $0).split(separator: ".").first.map(String.init) }
    }

    /// The adapter type `type`.
    public init<Type: Adapter>(_ type: Type.Type) {
        name = type.name
        vendor = type.vendor
        settings = Type.Settings.keys
        codes = Type.codes
        missingFacts = []
        self.type = type
        make = { decoder in try Type(settings: Type.Settings(from: decoder)) }
    }

    /// The adapter that `make` makes, for a vendor whose rules are no type of their own.
    package init(
        name: String, vendor: String, settings: [SettingKey], missingFacts: [String] = [],
        make: @escaping @Sendable (any Decoder) throws -> any Adapter
    ) {
        self.name = name
        self.vendor = vendor
        self.settings = settings
        codes = []
        self.missingFacts = missingFacts
        type = nil
        self.make = make
    }
}
