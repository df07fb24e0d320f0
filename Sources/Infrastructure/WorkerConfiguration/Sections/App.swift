public import AdapterKit

extension Configuration {
    /// An app.
    public struct App: Sendable {
        /// The app's name.
        public var name: String
        /// The vendor's rules, with the app's settings in them.
        public var adapter: any Adapter
        /// The name of its key ring.
        public var key: String
        /// The place of `key` in the file.
        public var keyPlace: FileLocation
        /// The lifetime of its tokens, in seconds.
        public var lifetime: Int64
        /// The source that decides a token's user.
        package var identity: IdentitySource
        /// The proof that a report must contain before a token is minted.
        package var proof: ProofDemand
        /// Topics that the app's events come from, and no other app's; empty for the shared ones.
        public var topics: [String]
        /// The most that a token's life is cut by, as a share of it.
        public var spread: Double
        /// The handling of a report without a user.
        package var missingUser: MissingUser
        /// The time that a key's version must have been prepared before it may sign, in seconds. It gives every
        /// verifier time to get the version.
        public var publishWindow: Int64
        /// The seal of its tokens before they are published; nil to publish them unencrypted.
        package var seal: TokenSeal?
        /// The further reader of its tokens' records, if any.
        package var publication: TokenPublication
        /// The facts about the vendor that its file lists as unknown: warnings for `remint check`.
        public var missingFacts: [Diagnostic] = []
        /// The settings that its adapter accepts, including those that the file leaves out.
        public var settings: [SettingKey] = []
        /// The question to the vendor before a token is minted; nil for none.
        public var lookup: Lookup?
        /// Whether the file has the key `identity`, so that the source of the user is a decision.
        package var hasWrittenIdentity = false
        /// The fingerprint of everything that the app was read from, including the files that it names.
        public var fingerprint = Fingerprint()
    }
}

extension Configuration.App {
    static let section = SectionDescription(
        "apps",
        """
        Apps, one for each integration: two Braze workspaces are two apps. Each event has the name of its app. The \
        name unknown is reserved.
        """,
        sections: [
            SectionDescription(
                "*", "",
                keys: [adapterKey.description, keyKey.description] + WrittenApp.settings.map(\.description)
                    + [settingsKey.description],
                sections: [Configuration.Lookup.section])
        ], ifAbsent: .refused)

    /// The name in metrics of events whose app is not configured. No app can have it.
    public static let unknown = "unknown"

    /// Returns the full name of the app `name`.
    static func fullName(of name: String) -> String { "\(section.name).\(name)" }

    static let adapterKey = FileKey.text(
        "adapter", form: .adapter, example: "braze", isRequired: true, change: .reloads,
        """
        Vendor of the app: braze, onesignal, bloomreach, dotdigital, infobip, or a vendor of adapters/declared, such \
        as ably. The path of your own vendor file is also possible, such as ./our-vendor.yaml.
        """)
    static let keyKey = FileKey.text(
        "key", example: "shop-braze", isRequired: true, change: .reloads,
        "Name of the app's key ring in the section keys. The ring's keys must be for the vendor's algorithm.")
    static let settingsKey = FileKey.mapping(
        "settings", .settings, example: "{}", change: .reloads,
        "Settings of the adapter. The adapter's README.md lists the settings.")
}
