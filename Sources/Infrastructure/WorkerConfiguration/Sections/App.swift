package import AdapterKit
import YAMLReading
import Yams

extension Configuration {
    /// An app.
    public struct App: Sendable {
        package var name: String
        /// The vendor's rules, with the app's settings in them.
        package var adapter: any Adapter
        package var key: String
        package var keyPlace: FileLocation
        /// The lifetime of its tokens, in seconds.
        package var lifetime: Int64
        package var identity: IdentitySource
        package var proof: ProofDemand
        /// Topics that the app's events come from, and no other app's; empty for the shared ones.
        package var topics: [String]
        /// The most that a token's life is cut by, as a share of it.
        package var spread: Double
        package var missingUser: MissingUser
        /// The time that a key's version must have been prepared before it may sign, in seconds. It gives every
        /// verifier time to get the version.
        package var publishWindow: Int64
        /// The seal of its tokens before they are published; nil to publish them unencrypted.
        package var seal: TokenSeal?
        package var publication: TokenPublication
        /// The facts about the vendor that its file lists as unknown: warnings for `remint check`.
        package var missingFacts: [Diagnostic] = []
        /// The settings that its adapter accepts, including those that the file leaves out.
        package var settings: [SettingKey] = []
        /// The question to the vendor before a token is minted; nil for none.
        package var lookup: Lookup?
        /// Whether the file has the key `identity`, so that the source of the user is a decision.
        package var hasWrittenIdentity = false
        /// The fingerprint of everything that the app was read from, including the files that it names.
        package var fingerprint = Fingerprint()
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
    package static let unknown = "unknown"

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

/// The keys of an app that the file may leave out, as it has them, each checked by itself.
struct WrittenApp: Sendable, WithDefaults {
    /// The lifetime of tokens; nil for the vendor's.
    var lifetime: Duration?
    /// The time that a key's version must have been prepared before it may sign.
    var publishWindow = Duration.seconds(600)
    /// The source that decides a token's user.
    var identity = IdentitySource.reported
    /// The proof that a report must contain before a token is minted.
    var proof = ProofDemand.none
    var topics: [String] = []
    /// The most that a token's life is cut by, as a share of it.
    var spread = 0.0
    var missingUser = MissingUser.deadLetter
    /// The path of the file of a recipient's public key.
    var seal: String?
    /// The further reader of tokens' records.
    var publication = TokenPublication.none
}

extension WrittenApp {
    static let settings: [Setting<Self>] = [
        Setting(lifetimeKey, ifPresent: \.lifetime),
        .duration(
            "publish_window", \.publishWindow, in: lifetimeRange, change: .reloads,
            """
            Minimum time from the preparation of a new key version until the version may sign (remint rotate promote). \
            In this time, the vendor and every other verifier must get the new version.
            """),
        identity, proof, Setting(topicsKey, \.topics),
        .share(
            "spread", \.spread, in: 0...0.5, change: .reloads,
            """
            Maximum share by which the worker shortens the lifetime of a token. The share is always the same for one \
            user, and differs between users. So the tokens of a rotation do not all expire in one hour.
            """),
        .choice(
            "missing_user", \.missingUser, change: .reloads,
            "Outcome of a report that lacks its user. Use skip if the SDK omits the user of an anonymous report."),
        seal, publication,
    ]

    private static let lifetimeRange: ClosedRange<Duration> = .seconds(1)...(.seconds(31_536_000))

    static let lifetimeKey = FileKey.duration(
        "lifetime", in: lifetimeRange, example: "12h", change: .reloads,
        """
        Lifetime of the app's tokens. The default and the bounds depend on the vendor; for Braze, they are 12h and 1m \
        to 30d.
        """)

    static let identity: Setting<Self> = .choice(
        "identity", \.identity, change: .reloads,
        """
        Source of the token's user. reported: the report, if the event names no vouched user. vouched: the event must \
        name the user that your edge has authenticated (the member "vouched" next to the report). The worker \
        dead-letters an event without a vouched user.
        """)

    static let proof: Setting<Self> = .choice(
        "proof", \.proof, change: .reloads,
        """
        Proof that a report must contain. own_token: the failed token, signed by a version of the app's ring for the \
        report's user. The report needs no token if the vendor's code shows that there was none. own_token is for \
        vendors whose SDKs report the token (Braze). none: no proof.
        """)

    private static let topicCount = 1...16

    static let topicsKey = FileKey(
        "topics", .list(of: .topic, count: topicCount), example: "[shop.auth-failures]",
        """
        Topics of this app alone. The app's events come only from these topics, and no other app's events do, so \
        the brokers' ACLs can separate producers. Operators' requests still come from the bulk topic. Default: the \
        shared topics.
        """, readTopics)

    static let seal: Setting<Self> = .text(
        "seal", ifPresent: \.seal, form: .path, example: "recipient.jwk", change: .reloads,
        """
        File with the recipient's public JWK. The JWK needs a kid, and is for ECDH-ES+A256KW or RSA-OAEP-256. The \
        worker then publishes tokens as JWEs that only the private key opens. Readers of the token topic without this \
        key get no usable token. By default, the worker publishes tokens unencrypted.
        """)

    static let publication: Setting<Self> = .choice(
        "publish", \.publication, change: .reloads,
        """
        Additional headers of the tokens' records. centrifugo: the headers by which Centrifugo's Kafka consumer \
        publishes each token to its user (config/centrifugo). none: no additional headers.
        """)

    /// Returns the app's own topics in the key `name`, each by its name; nil where it is absent or wrong.
    private static func readTopics(_ app: Section, _ name: String) -> [String]? {
        guard let node = app.value(name) else { return nil }
        let names = node.sequence?.compactMap { $0.scalar?.string } ?? []
        guard let entries = node.sequence, topicCount ~= entries.count, names.count == entries.count,
            names.allSatisfy(TopicName.isValid), Set(names).count == names.count
        else {
            app.diagnostics.error(
                node, "\(app.path(name)) must be a list of up to 16 different topics, such as [shop.auth-failures]")
            return nil
        }
        return names
    }
}
