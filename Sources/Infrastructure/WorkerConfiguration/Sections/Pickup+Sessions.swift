import AdapterKit
import YAMLReading
import Yams

extension Configuration.Pickup {
    static let session = SectionDescription(
        "session",
        "The customer's session, a JWT that the device shows: it gets the token of that user and of nobody else.",
        keys: Session.keys, ifAbsent: .nothing)

    static let sessionsByName = SectionDescription(
        "sessions", "Sessions of further issuers, or for other audiences, each under a name of yours.",
        sections: [SectionDescription("*", "", keys: Session.keys)], ifAbsent: .nothing)

    static let openedApps = SectionDescription(
        "apps",
        """
        The apps that devices reach with a session, each with the issuer whose sessions open it. An app that is not \
        named here is served to backends alone. remint check prints which session opens which app.
        """,
        sections: [
            SectionDescription(
                "*", "", keys: [OpenedApp.issuerKey.description] + OpenedApp.settings.map(\.description))
        ], sampleMember: "shop-ios", ifAbsent: .nothing)
}

extension Configuration.Pickup.OpenedApp {
    static let issuerKey = DeclaredKey.text(
        "issuer", example: "https://login.example.com", isRequired: true,
        "The issuer of pickup.session, or of one of pickup.sessions.")

    static let audience: Setting<Self> = .text(
        "audience", ifPresent: \.audience, example: "shop",
        "What aud of the session is or holds. By default the audience of the session's section.")

    static let settings: [Setting<Self>] = [
        audience,
        .text(
            "claim", ifPresent: \.claim, example: "customer_id",
            "The claim that is the user. By default the user_claim of the session's section."),
        .text(
            "id", ifPresent: \.id, example: "registered",
            "The id's name, for vendors that name users by several ids (Bloomreach)."),
    ]
}

extension Configuration.Pickup.Session {
    /// The algorithms that may sign sessions. Shared secrets are excluded: anyone who can check one could also sign
    /// with it.
    static let knownAlgorithms = Algorithm.allCases.filter { $0.keyType != .secret }

    static let keys =
        [issuerKey.description, audience.description, keySetKey.description] + settings.map(\.description)

    static let issuerKey = DeclaredKey.text(
        "issuer", example: "https://login.example.com", isRequired: true, "iss, byte for byte.")

    static let audience: Setting<Self> = .text(
        "audience", ifPresent: \.audience, example: "shop",
        "What aud is or holds. Only for an issuer that signs for nobody else leave it out.")

    static let keySetKey = DeclaredKey.text(
        "jwks", example: "https://login.example.com/.well-known/jwks.json", isRequired: true,
        """
        The issuer's JWK Set, an https URL or a file. It is fetched every ten minutes, and once per cool_down at most for a key \
        that is not known; a set that cannot be fetched is kept for a day, and one without a usable key ends all sessions.
        """)

    private static let algorithmsKey = DeclaredKey(
        KeyDescription(
            "algorithms", .list(of: .choice(knownAlgorithms.flatMap(\.names))),
            standard:
                "[\(Self().algorithms.map(\.rawValue).sorted { $0.lowercased() < $1.lowercased() }.joined(separator: ", "))]",
            "What sessions may be signed with."), readAlgorithms)

    static let settings: [Setting<Self>] = [
        Setting(algorithmsKey, \.algorithms),
        .text("user_claim", \.userClaim, "The claim that is the user, exactly as the vendor's SDK names the user."),
        .duration("skew", \.skew, in: .zero...(.seconds(300)), "How far the issuer's clock may differ from ours."),
        .duration(
            "cool_down", \.coolDown, in: .seconds(1)...(.seconds(3600)),
            "The least time between two fetches of jwks, however many unknown keys are shown."),
    ]

    /// Returns the algorithms in the key `name` of `section`; nil where it is absent or wrong.
    private static func readAlgorithms(_ section: Section, _ name: String) -> Set<Algorithm>? {
        guard let node = section.value(name) else { return nil }
        let names = node.sequence?.compactMap { $0.scalar?.string } ?? []
        guard !names.isEmpty, names.count == node.sequence?.count else {
            section.diagnostics.error(node, "\(section.path(name)) must be a list of texts, as in [a, b]")
            return nil
        }
        let algorithms = names.compactMap(Algorithm.init(named:))
        let known = knownAlgorithms
        guard algorithms.count == names.count, algorithms.allSatisfy(known.contains) else {
            let list = known.flatMap(\.names).joined(separator: ", ")
            section.diagnostics.error(node, "\(section.path(name)) knows \(list), and no shared secrets")
            return nil
        }
        return Set(algorithms)
    }
}
