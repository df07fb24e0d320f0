import AdapterKit

extension Configuration.Pickup {
    static let appIssuerKey = KeyDescription(
        "issuer", .text, example: "https://login.example.com", isRequired: true,
        "The issuer of pickup.session, or of one of pickup.sessions.")
    static let openedAppKeys = [
        appIssuerKey,
        KeyDescription(
            "audience", .text, example: "shop",
            "What aud of the session is or holds. By default the audience of the session's section."),
        KeyDescription(
            "claim", .text, example: "customer_id",
            "The claim that is the user. By default the user_claim of the session's section."),
        KeyDescription(
            "id", .text, example: "registered",
            "The id's name, for vendors that name users by several ids (Bloomreach)."),
    ]

    static let issuerKey = KeyDescription(
        "issuer", .text, example: "https://login.example.com", isRequired: true, "iss, byte for byte.")
    static let keySetKey = KeyDescription(
        "jwks", .text, example: "https://login.example.com/.well-known/jwks.json", isRequired: true,
        """
        The issuer's JWK Set, an https URL or a file. It is fetched every ten minutes, and once per cool_down at most for a key \
        that is not known; a set that cannot be fetched is kept for a day, and one without a usable key ends all sessions.
        """)
    /// The algorithms that may sign sessions. Shared secrets are excluded: anyone who can check one could also sign
    /// with it.
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
