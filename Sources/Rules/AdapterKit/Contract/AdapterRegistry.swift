/// The adapters a program offers: an explicit list of values, made where the program starts.
public struct AdapterRegistry: Sendable {
    /// An adapter type, with its settings type erased.
    public struct Registration: Sendable {
        /// The name in `apps.*.adapter`.
        public let name: String
        /// The vendor's own spelling.
        public let vendor: String
        /// The keys that `apps.*.settings` may hold.
        public let settings: [SettingKey]
        /// The vendor's codes and the response to each; empty where they are in the vendor's file.
        public let codes: [VendorCode]
        /// Decodes the settings and makes the adapter.
        public let make: @Sendable (any Decoder) throws -> any Adapter
        /// The facts about the vendor that the adapter's author does not know, for the person who configures an app.
        public let missingFacts: [String]

        /// The adapter type `type`.
        public init<Type: Adapter>(_ type: Type.Type) {
            name = type.name
            vendor = type.vendor
            settings = Type.Settings.keys
            codes = Type.codes
            missingFacts = []
            make = { decoder in try Type(settings: Type.Settings(from: decoder)) }
        }

        /// The adapter that `make` makes, for a vendor whose rules are no type of their own.
        public init(
            name: String, vendor: String, settings: [SettingKey], missingFacts: [String] = [],
            make: @escaping @Sendable (any Decoder) throws -> any Adapter
        ) {
            self.name = name
            self.vendor = vendor
            self.settings = settings
            codes = []
            self.missingFacts = missingFacts
            self.make = make
        }
    }

    /// The adapters in the order they were given.
    public let registrations: [Registration]

    /// A registry of `registrations`. Two of one name are a mistake in the program and trap.
    public init(_ registrations: [Registration]) {
        precondition(Set(registrations.map(\.name)).count == registrations.count, "two adapters share a name")
        self.registrations = registrations
    }

    /// Returns the adapter `name`.
    public subscript(name: String) -> Registration? { registrations.first { $0.name == name } }
}
