public import AdapterKit

extension Configuration {
    /// The gateway that devices call: `remint pickup`.
    public struct Pickup: Sendable, WithDefaults {
        /// Whether a session alone does.
        public enum Proof: String, Sendable, CaseIterable {
            /// It does, unless it is bound to a key.
            case none
            /// A proof of possession is required with it (RFC 9449).
            case dpop
        }

        /// The customer's sessions.
        public struct Session: Sendable, WithDefaults {
            /// `iss`, byte for byte.
            public var issuer = ""
            /// What `aud` is or holds; nil for an issuer that signs for nobody else.
            public var audience: String?
            /// Where the issuer's JWK Set is: an https URL, or a file.
            public var keySet = ""
            /// What sessions may be signed with.
            public var algorithms: Set<Algorithm> = [.rs256, .ps256, .es256, .eddsa]
            /// The claim that names the user.
            public var userClaim = "sub"
            /// How far the issuer's clock may differ.
            public var skew = Duration.seconds(30)
            /// The least time between two fetches of the set, however many unknown keys are shown.
            public var coolDown = Duration.seconds(30)

            /// Every default.
            public init() {}
        }

        /// A trusted backend.
        public struct APIKey: Sendable {
            /// What logs and metrics call it.
            public var name: String
            /// The key's SHA-256 in hexadecimal digits.
            public var hash: String
            /// The apps it is for; empty for all.
            public var apps: [String]
        }

        /// How a session's user becomes an app's.
        public struct User: Sendable {
            /// The claim that names the user; nil for the session's own.
            public var claim: String?
            /// The id's name, for vendors that name users by several ids; nil for one that has one.
            public var id: String?
        }

        /// Where it stands in the file.
        public var place: FileLocation?
        /// The address, without brackets.
        public var host = "127.0.0.1"
        /// The port; 0 for any.
        public var port = 8080
        /// How devices reach it, which proofs of possession are for; nil for its own address.
        public var publicURL: String?
        /// The PEM files of certificate chain and key; nil for plain text, behind a proxy.
        public var certificate: (chain: String, key: String)?
        /// Origins of pages that may ask.
        public var origins: [String] = []
        /// Whether a session alone does.
        public var proof = Proof.none
        /// The customer's sessions; nil where only backends ask.
        public var session: Session?
        /// Trusted backends.
        public var apiKeys: [APIKey] = []
        /// How users are named, by app.
        public var users: [String: User] = [:]
        /// The files of the private JWKs that open sealed tokens.
        public var sealKeys: [String] = []
        /// How much memory tokens may take, in bytes.
        public var cache = 256 << 20
        /// The age up to which the token topic's past is read after the start, if the apps' tokens live as long.
        public var follow = Duration.seconds(30 * 86_400)
        /// The most tokens a second that are asked for, for users of whom none is known.
        public var coldRate = 1000
        /// Requests a second for one user, from one device and in all.
        public var userRate = 5
        /// See `userRate`.
        public var callerRate = 20
        /// See `userRate`: from one address, which many devices of one network may share.
        public var addressRate = 200
        /// See `userRate`.
        public var totalRate = 5000
        /// Where `/metrics` is served; nil for nowhere.
        public var metrics: (host: String, port: Int)?

        /// Every default.
        public init() {}
    }
}

extension Configuration.Pickup {
    static let section = SectionDescription(
        "pickup",
        """
        The HTTP gateway that devices and backends call (remint pickup --config FILE). Without this section there is none.
        """,
        keys: [
            listenKey,
            KeyDescription(
                "public_url", .url, example: "https://tokens.example.com",
                "How devices reach it, which proofs of possession name (RFC 9449). By default its own address."),
            KeyDescription(
                "origins", .list(of: .origin), example: "[https://shop.example.com]",
                "Origins of the pages that may ask (CORS). By default none."),
            KeyDescription(
                "metrics", .address, example: "127.0.0.1:9465",
                "Where /metrics is served, for monitoring alone. By default nowhere."),
            KeyDescription(
                "seal_keys", .list(of: .path), example: "[secrets/recipient.jwk]",
                "Private JWKs that open the tokens of apps with seal; several while a recipient is replaced."),
        ] + settings.map(\.description),
        sections: [
            SectionDescription(
                "tls", "Certificate and key. Without them the gateway speaks plain text, for a proxy in front of it.",
                keys: [certificateKey, privateKeyKey], isRare: true, ifAbsent: .nothing),
            SectionDescription(
                "session",
                "The customer's session, a JWT that the device shows: it gets the token of that user and of nobody else.",
                keys: sessionKeys, ifAbsent: .nothing),
            SectionDescription(
                "users", "How a session names an app's user, where it is not the session's user by a single id.",
                sections: [
                    SectionDescription(
                        "*", "",
                        keys: [
                            KeyDescription("claim", .text, example: "customer_id", "The claim that is the user."),
                            KeyDescription(
                                "id", .text, example: "registered",
                                "The id's name, for vendors that name users by several ids (Bloomreach)."),
                        ])
                ], ifAbsent: .nothing),
            SectionDescription(
                "api_keys",
                "Trusted backends, each under its name: they name the user themselves. remint pickup-key makes a key and its hash.",
                sections: [
                    SectionDescription(
                        "*", "",
                        keys: [
                            hashKey,
                            KeyDescription(
                                "apps", .list(of: .text), example: "[shop-ios]", "The apps it is for. By default all."),
                        ])
                ], ifAbsent: .nothing),
        ], ifAbsent: .nothing)

    static let listenKey = KeyDescription(
        "listen", .address, example: "127.0.0.1:8080", isRequired: true, "The address and the port.")
    static let certificateKey = KeyDescription(
        "certificate", .path, example: "tls/chain.pem", isRequired: true, "The certificate and its chain, in PEM.")
    static let privateKeyKey = KeyDescription(
        "key", .path, example: "tls/key.pem", isRequired: true, "The private key, in PEM, mode 600.")
    static let hashKey = KeyDescription(
        "hash", .digest, example: "64 hexadecimal digits", isRequired: true,
        "The key's SHA-256; the key itself is kept nowhere.")

    static let settings: [Setting<Self>] = [
        .choice(
            "proof", \.proof, "Whether a session alone does, or a proof of possession (RFC 9449) must come with it."),
        .bytes(
            "cache", \.cache, in: (1 << 20)...(256 << 30),
            "The memory of tokens with all that belongs to them. What is not in it is minted anew."),
        .duration(
            "follow", \.follow, in: .seconds(60)...(.seconds(400 * 86_400)),
            "The age up to which the token topic's past is read, newest first, beside serving."),
        .integer(
            "cold_rate", \.coldRate, in: 1...1_000_000,
            "Tokens a second asked for, for users whose token is unknown; more calls wait or get 503."),
        .integer("user_rate", \.userRate, in: 1...100_000, "Requests a second for one user, whoever asks."),
        .integer("caller_rate", \.callerRate, in: 1...100_000, "Requests a second from one user or device."),
        .integer(
            "address_rate", \.addressRate, in: 1...10_000_000,
            "Requests a second from one address, which many devices of one network, or a proxy, may share."),
        .integer("total_rate", \.totalRate, in: 1...10_000_000, "Requests a second in all."),
    ]

    static let issuerKey = KeyDescription(
        "issuer", .text, example: "https://login.example.com", isRequired: true, "iss, byte for byte.")
    static let keySetKey = KeyDescription(
        "jwks", .text, example: "https://login.example.com/.well-known/jwks.json", isRequired: true,
        """
        The issuer's JWK Set, an https URL or a file. It is fetched every ten minutes, and once per cool_down at most for a key \
        that is not known; a set that cannot be fetched is kept for a day.
        """)
    /// What sessions can be signed with: whoever could check a shared secret could sign with it too.
    static let sessionAlgorithms = Algorithm.allCases.filter { $0.keyType != .secret }

    static let sessionKeys =
        [
            issuerKey,
            KeyDescription(
                "audience", .text, example: "shop",
                "What aud is or holds. Only for an issuer that signs for nobody else leave it out."),
            keySetKey,
            KeyDescription(
                "algorithms", .list(of: .choice(sessionAlgorithms.flatMap(\.names))),
                standard: "[EdDSA, ES256, PS256, RS256]",
                "What sessions may be signed with."),
        ] + sessionSettings.map(\.description)

    static let sessionSettings: [Setting<Session>] = [
        .text("user_claim", \.userClaim, "The claim that is the user, exactly as the vendor's SDK names the user."),
        .duration("skew", \.skew, in: .zero...(.seconds(300)), "How far the issuer's clock may differ from ours."),
        .duration(
            "cool_down", \.coolDown, in: .seconds(1)...(.seconds(3600)),
            "The least time between two fetches of jwks, however many unknown keys are shown."),
    ]
}
