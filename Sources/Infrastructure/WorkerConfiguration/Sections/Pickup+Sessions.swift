import AdapterKit
import YAMLReading
import Yams

extension Configuration.Pickup {
    static let session = SectionDescription(
        "session",
        """
        Session of a user: a JWT that the customer's issuer signs and the device presents. The device gets only this \
        user's token.
        """,
        keys: Session.keys, ifAbsent: .nothing)

    static let sessionsByName = SectionDescription(
        "sessions", "Sessions of further issuers, or for other audiences, each under a name of your choice.",
        sections: [SectionDescription("*", "", keys: Session.keys)], ifAbsent: .nothing)

    static let openedApps = SectionDescription(
        "apps",
        """
        Apps that devices can reach with a session, each with the issuer of these sessions. Only backends can reach an \
        app that is not in this section. remint check prints which session opens which app.
        """,
        sections: [
            SectionDescription(
                "*", "", keys: [OpenedApp.issuerKey.description] + OpenedApp.settings.map(\.description))
        ], sampleMember: "shop-ios", ifAbsent: .nothing)
}

extension Configuration.Pickup.OpenedApp {
    static let issuerKey = FileKey.text(
        "issuer", example: "https://login.example.com", isRequired: true,
        "Issuer of pickup.session, or of one of pickup.sessions.")

    static let audience: Setting<Self> = .text(
        "audience", ifPresent: \.audience, example: "shop",
        """
        Required audience of the session: its claim aud is this string, or a list with this string. Default: the \
        audience of the session's section.
        """)

    static let settings: [Setting<Self>] = [
        audience,
        .text(
            "claim", ifPresent: \.claim, example: "customer_id",
            "Claim of the session that names the user. Default: the user_claim of the session's section."),
        .text(
            "id", ifPresent: \.id, example: "registered",
            "Name of the id that the claim contains, for vendors that name a user by several ids (Bloomreach)."),
    ]
}

extension Configuration.Pickup.Session {
    /// The algorithms that may sign sessions. Shared secrets are excluded: anyone who can check one could also sign
    /// with it.
    static let knownAlgorithms = Algorithm.allCases.filter { $0.keyType != .secret }

    static let keys =
        [issuerKey.description, audience.description, keySetKey.description] + settings.map(\.description)

    static let issuerKey = FileKey.text(
        "issuer", example: "https://login.example.com", isRequired: true,
        "Issuer of the session: the value of its claim iss, byte for byte.")

    static let audience: Setting<Self> = .text(
        "audience", ifPresent: \.audience, example: "shop",
        """
        Required audience of the session: its claim aud is this string, or a list with this string. Omit this key only \
        if the issuer signs sessions for nobody else.
        """)

    static let keySetKey = FileKey.text(
        "jwks", example: "https://login.example.com/.well-known/jwks.json", isRequired: true,
        """
        JWK Set of the issuer: an https URL or a file. The gateway fetches the set every ten minutes, or after the \
        set's max-age. For an unknown key, the gateway fetches the set sooner, at most once per cool_down. If fetches \
        fail, the gateway uses the previous set for a day. If the set has no usable key, the gateway ends all sessions \
        of the issuer.
        """)

    private static let algorithmsKey = FileKey(
        "algorithms", .list(of: .choice(knownAlgorithms.flatMap(\.names))),
        standard:
            "[\(Self().algorithms.map(\.rawValue).sorted { $0.lowercased() < $1.lowercased() }.joined(separator: ", "))]",
        "Algorithms that may sign sessions.", readAlgorithms)

    static let settings: [Setting<Self>] = [
        Setting(algorithmsKey, \.algorithms),
        .text(
            "user_claim", \.userClaim,
            "Claim of the session that names the user, exactly as the vendor's SDK names the user."),
        .duration(
            "skew", \.skew, in: .zero...(.seconds(300)),
            "Maximum difference between the issuer's clock and the gateway's clock."),
        .duration(
            "cool_down", \.coolDown, in: .seconds(1)...(.seconds(3600)),
            "Minimum time between two fetches of jwks, even if sessions name many unknown keys."),
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
