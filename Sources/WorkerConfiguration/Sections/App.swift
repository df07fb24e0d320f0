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
        public var identity = IdentitySource.reported
        /// The proof that a report must contain before a token is minted.
        public var proof = ProofDemand.none
        /// Topics that the app's events come from, and no other app's; empty for the shared ones.
        public var topics: [String] = []
        /// The most that a token's life is cut by, as a share of it.
        public var spread = 0.0
        /// The handling of a report without a user.
        public var missingUser: MissingUser
        /// The time that a key's version must have been prepared before it may sign, in seconds. It gives every
        /// verifier time to get the version.
        public var publishWindow: Int64
        /// The seal of its tokens before they are published; nil to publish them unencrypted.
        public var seal: TokenSeal?
        /// The further reader of its tokens' records, if any.
        public var publication = TokenPublication.none
        /// The facts about the vendor that its file lists as unknown: warnings for `remint check`.
        public var missingFacts: [Diagnostic] = []
        /// The settings that its adapter accepts, including those that the file leaves out.
        public var settings: [SettingKey] = []
        /// The question to the vendor before a token is minted; nil for none.
        public var lookup: Lookup?
        /// The fingerprint of everything that the app was read from, including the files that it names.
        public var fingerprint = Fingerprint()
    }
}

extension Configuration.App {
    static let section = SectionDescription(
        "apps", "One app per integration: two Braze workspaces are two apps. The name is what events call it.",
        sections: [
            SectionDescription(
                "*", "",
                keys: [
                    adapterKey, keyKey, lifetimeKey, publishWindowKey, identityKey, proofKey, topicsKey, spreadKey,
                    missingUserKey, sealKey, publishKey, settingsKey,
                ],
                sections: [Configuration.Lookup.section])
        ], ifAbsent: .refused)

    static let adapterKey = KeyDescription(
        "adapter", .adapter, example: "braze", isRequired: true, change: .reloads,
        """
        The vendor: braze, onesignal, bloomreach, dotdigital or infobip; a vendor of adapters/declared, such as ably; or the path \
        of a file of your own, such as ./our-vendor.yaml.
        """)
    static let keyKey = KeyDescription(
        "key", .text, example: "shop-braze", isRequired: true, change: .reloads,
        "A key ring from above. Its keys must be for the vendor's algorithm.")
    static let lifetimeRange: ClosedRange<Duration> = .seconds(1)...(.seconds(31_536_000))
    static let lifetimeKey = KeyDescription(
        "lifetime", .duration(lifetimeRange), example: "12h", change: .reloads,
        "How long tokens live. Default and bounds are the vendor's: Braze 12h (1m to 30d).")
    static let standardPublishWindow = Duration.seconds(600)
    static let publishWindowKey = KeyDescription(
        "publish_window", .duration(lifetimeRange), standard: DurationText.format(standardPublishWindow),
        change: .reloads,
        """
        How long a new version of the key must have been prepared before it may sign (remint rotate promote): until the vendor and \
        every other verifier has it.
        """)
    static let identityKey = KeyDescription(
        "identity", .choice(IdentitySource.allCases.map(\.rawValue)), standard: IdentitySource.reported.rawValue,
        change: .reloads,
        """
        The source of the token's user. reported: the report, if the event vouches for nobody; vouched: an event must name the user \
        that your edge has authenticated ("vouched" beside the report), else it is dead-lettered.
        """)
    static let proofKey = KeyDescription(
        "proof", .choice(ProofDemand.allCases.map(\.rawValue)), standard: ProofDemand.none.rawValue, change: .reloads,
        """
        own_token: a report must hold the failed token, signed by a version of this ring for the report's user, unless the vendor's \
        code shows that there was none. For vendors whose SDKs report the token (Braze). none: nothing.
        """)
    static let topicCount = 1...16
    static let topicsKey = KeyDescription(
        "topics", .list(of: .topic, count: topicCount), example: "[shop.auth-failures]",
        """
        Topics of the app's own: its events come from these alone, and no other app's do, so that the broker's ACLs keep producers \
        apart. Operators' requests still come on the bulk topic. By default the shared topics.
        """)
    static let spreadRange = 0...0.5
    static let spreadKey = KeyDescription(
        "spread", .share(spreadRange), standard: "0%", change: .reloads,
        """
        Cuts each token's life by up to this share of it, always the same for one user, so that the tokens of a rotation do not \
        all end in one hour.
        """)
    static let missingUserKey = KeyDescription(
        "missing_user", .choice(MissingUser.allCases.map(\.rawValue)), standard: MissingUser.deadLetter.rawValue,
        change: .reloads,
        "What becomes of a report that lacks its user; skip is for SDKs that leave an anonymous user out.")
    static let sealKey = KeyDescription(
        "seal", .path, example: "recipient.jwk", change: .reloads,
        """
        The file of a public JWK with a kid, for ECDH-ES+A256KW or RSA-OAEP-256: tokens are published as JWEs that only the \
        private key opens, so that who reads the token topic holds none. By default they are published as they are.
        """)
    static let publishKey = KeyDescription(
        "publish", .choice(TokenPublication.allCases.map(\.rawValue)), standard: TokenPublication.none.rawValue,
        change: .reloads,
        """
        centrifugo: tokens' records have the headers by which Centrifugo's Kafka consumer publishes each to its user \
        (config/centrifugo). none: nothing.
        """)
    static let settingsKey = KeyDescription(
        "settings", .settings, example: "{}", change: .reloads,
        "The adapter's own, which its README.md names.")
}
