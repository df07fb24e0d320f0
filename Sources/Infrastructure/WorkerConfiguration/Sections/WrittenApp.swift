import AdapterKit
import YAMLReading
import Yams

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
    /// The app's own topics.
    var topics: [String] = []
    /// The most that a token's life is cut by, as a share of it.
    var spread = 0.0
    /// The handling of a report without a user.
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
            How long a new version of the key must have been prepared before it may sign (remint rotate promote): until the vendor and \
            every other verifier has it.
            """),
        identity, proof, Setting(topicsKey, \.topics),
        .share(
            "spread", \.spread, in: 0...0.5, change: .reloads,
            """
            Cuts each token's life by up to this share of it, always the same for one user, so that the tokens of a rotation do not \
            all end in one hour.
            """),
        .choice(
            "missing_user", \.missingUser, change: .reloads,
            "What becomes of a report that lacks its user; skip is for SDKs that leave an anonymous user out."),
        seal, publication,
    ]

    private static let lifetimeRange: ClosedRange<Duration> = .seconds(1)...(.seconds(31_536_000))

    static let lifetimeKey = DeclaredKey.duration(
        "lifetime", in: lifetimeRange, example: "12h", change: .reloads,
        "How long tokens live. Default and bounds are the vendor's: Braze 12h (1m to 30d).")

    static let identity: Setting<Self> = .choice(
        "identity", \.identity, change: .reloads,
        """
        The source of the token's user. reported: the report, if the event vouches for nobody; vouched: an event must name the user \
        that your edge has authenticated ("vouched" beside the report), else it is dead-lettered.
        """)

    static let proof: Setting<Self> = .choice(
        "proof", \.proof, change: .reloads,
        """
        own_token: a report must hold the failed token, signed by a version of this ring for the report's user, unless the vendor's \
        code shows that there was none. For vendors whose SDKs report the token (Braze). none: nothing.
        """)

    private static let topicCount = 1...16

    static let topicsKey = DeclaredKey(
        KeyDescription(
            "topics", .list(of: .topic, count: topicCount), example: "[shop.auth-failures]",
            """
            Topics of the app's own: its events come from these alone, and no other app's do, so that the broker's ACLs keep producers \
            apart. Operators' requests still come on the bulk topic. By default the shared topics.
            """), readTopics)

    static let seal: Setting<Self> = .text(
        "seal", ifPresent: \.seal, form: .path, example: "recipient.jwk", change: .reloads,
        """
        The file of a public JWK with a kid, for ECDH-ES+A256KW or RSA-OAEP-256: tokens are published as JWEs that only the \
        private key opens, so that who reads the token topic holds none. By default they are published as they are.
        """)

    static let publication: Setting<Self> = .choice(
        "publish", \.publication, change: .reloads,
        """
        centrifugo: tokens' records have the headers by which Centrifugo's Kafka consumer publishes each to its user \
        (config/centrifugo). none: nothing.
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
