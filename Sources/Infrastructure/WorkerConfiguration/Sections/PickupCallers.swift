import AdapterKit
import Formats
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
        .of(issuerKey, audience, keySetKey) + settings.map(\.description)

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
        "algorithms", .list(of: .choice(knownAlgorithms.flatMap(\.names)), count: 1...Int.max),
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

extension Configuration.Pickup.Session {
    typealias Placed = (session: Self, keySet: FileLocation)

    /// Returns the session without a name, and the named ones, each with the place of its `jwks`; nil for one with errors.
    static func read(_ section: Section) -> [Placed?] {
        let first = section.value(of: Configuration.Pickup.session).map { _ in
            read(section.section(Configuration.Pickup.session), Configuration.Pickup.session.name)
        }
        let named = section.section(Configuration.Pickup.sessionsByName)
        let others = named.all.map { key, name, value in
            read(
                Section(value, at: key, name: named.path(name), section.diagnostics),
                "\(Configuration.Pickup.sessionsByName.name).\(name)")
        }
        return (first.map { [$0] } ?? []) + others
    }

    private static func read(_ inner: Section, _ name: String) -> Placed? {
        defer { inner.finish() }
        var session = Self()
        session.name = name
        inner.read([audience] + settings, into: &session)
        let named = (
            issuer: inner.placed(issuerKey), keys: inner.placed(keySetKey)
        )
        guard let issuer = named.issuer, let keys = named.keys, !inner.diagnostics.isRefused(issuer.node) else {
            return nil
        }
        session.issuer = issuer.value
        let isURL = keys.value.contains("://")
        if isURL, let flaw = flaw(ofKeySet: keys.value) {
            inner.error(keySetKey, at: keys.node, "\(flaw)")
        }
        session.keySet = isURL ? keys.value : inner.diagnostics.resolve(keys.value)
        return (session, inner.diagnostics.place(of: keys.node))
    }

    /// Returns the reason not to believe keys that come from `url`; nil if there is none. Plain http never leaves this machine. A
    /// query may follow.
    private static func flaw(ofKeySet url: String) -> String? {
        do throws(EndpointURL.Problem) {
            let endpoint = try EndpointURL(parsing: String(url.prefix { $0 != "?" }))
            return endpoint.isEncrypted || endpoint.isLoopback ? nil : "must be an https URL, or a file"
        } catch { return error.message }
    }
}

extension Configuration.Pickup.OpenedApp {
    /// Returns the apps of `section`, each with the sessions that can open it.
    ///
    /// - Parameters:
    ///   - apps: the names of the configuration's apps.
    ///   - sessions: the sessions of the file; nil where not all of them could be read.
    static func read(
        _ section: Section, among apps: [String], _ sessions: [Configuration.Pickup.Session]?
    ) -> [String: Self] {
        var opened: [String: Self] = [:]
        for (key, name, value) in section.all {
            guard apps.contains(name) else {
                section.diagnostics.error(key, section.noApp(name, among: apps, key))
                continue
            }
            let entry = Section(value, at: key, name: section.path(name), section.diagnostics)
            defer { entry.finish() }
            var app = Self()
            entry.read(settings, into: &app)
            guard let issuer = entry.placed(issuerKey) else { continue }
            app.issuer = issuer.value
            opened[name] = app
            if !section.diagnostics.isRefused(issuer.node), let sessions, let problem = app.problem(among: sessions) {
                section.diagnostics.error(
                    entry.value(of: audience) ?? issuer.node, "\(entry.name) \(problem)")
            }
        }
        return opened
    }

    /// Returns the reason why no session, or more than one, would open the app; nil if exactly one reading of a session does.
    private func problem(among sessions: [Configuration.Pickup.Session]) -> String? {
        let issued = sessions.filter { $0.issuer.hasSameBytes(as: issuer) }
        guard !issued.isEmpty else {
            let known = sessions.map { "that of pickup.\($0.name)" }
            return known.isEmpty
                ? "needs sessions; add pickup.session with the issuer and its jwks"
                : "names the issuer of no session; known: \(known.joined(separator: ", "))"
        }
        let ways = ways(among: sessions)
        guard let first = ways.first else {
            return """
                names another audience than \(issued.map { "pickup.\($0.name)" }.joined(separator: ", ")); leave it out, or add \
                the audience under pickup.sessions
                """
        }
        guard let other = ways.first(where: { !$0.claim.hasSameBytes(as: first.claim) }) else { return nil }
        return """
            is opened by pickup.\(first.session) and by pickup.\(other.session), which name its user by different claims, and \
            one session may satisfy both; add audience or claim
            """
    }
}

extension Section {
    /// Returns the problem of `name`, which is no app's. The name may come from the environment.
    fileprivate func noApp(_ name: String, among apps: [String], _ node: Node) -> String {
        let meant = Spelling.nearest(to: name, among: apps).map { "; did you mean \($0)?" }
        return
            "apps has no app called \(diagnostics.quote(name, node))\(meant ?? "; known: \(apps.joined(separator: ", "))")"
    }
}

extension Configuration.Pickup {
    /// A kind of session that opens an app.
    public struct Way: Sendable, Hashable {
        /// The place of the session's section under `pickup`.
        package let session: String
        package let issuer: String
        /// The required audience, as `aud` or in its list; nil to accept any.
        package let audience: String?
        package let claim: String
    }

    /// Returns the sessions that open `app`; empty for an app that devices do not reach.
    package func ways(into app: String) -> [Way] { apps[app]?.ways(among: sessions) ?? [] }

    /// Returns every way that begins with sessions of the section `session`, into any app.
    package func ways(of session: String) -> [Way] {
        apps.values.flatMap { $0.ways(among: sessions) }.filter { $0.session == session }
    }
}

extension Configuration.Pickup.OpenedApp {
    /// Returns the sessions that open the app: those of its issuer, for its audience where it names one.
    func ways(among sessions: [Configuration.Pickup.Session]) -> [Configuration.Pickup.Way] {
        sessions.filter { session in
            guard session.issuer.hasSameBytes(as: issuer) else { return false }
            guard let audience, let own = session.audience else { return true }
            return audience.hasSameBytes(as: own)
        }.map { session in
            Configuration.Pickup.Way(
                session: session.name, issuer: issuer, audience: audience ?? session.audience,
                claim: claim ?? session.userClaim)
        }
    }
}

extension Configuration.Pickup {
    static let keysByName = SectionDescription(
        "api_keys",
        """
        API keys of trusted backends, each under the backend's name. A backend itself names the user of a call. remint \
        pickup-key makes a key and its hash.
        """,
        sections: [
            SectionDescription(
                "*", "", keys: .of(APIKey.hashKey, APIKey.appsKey, APIKey.rate))
        ], ifAbsent: .nothing)
}

extension Configuration.Pickup.APIKey {
    static let hashKey = FileKey(
        "hash", .digest, example: "64 hexadecimal digits", isRequired: true,
        "SHA-256 of the key. Remint stores the key itself nowhere."
    ) { section, name -> String? in
        guard let (hash, node) = section.requiredText(name, example: "64 hexadecimal digits") else { return nil }
        guard hash.utf8.count == 64, hash.allSatisfy(\.isHexDigit) else {
            section.diagnostics.error(
                node, "\(section.path(name)) must be 64 hexadecimal digits, the key's SHA-256")
            return nil
        }
        return hash
    }

    static let appsKey = FileKey.list(
        "apps", example: "[shop-ios]", "Apps that the backend can reach with this key. Default: all apps.")

    static let rate: Setting<Self> = .integer(
        "rate", \.rate, in: 1...1_000_000,
        """
        Maximum number of requests a second with this key, instead of the limit of the address. Twice as many requests \
        may come at once. user_rate and total_rate apply in addition.
        """)

    static func read(_ section: Section, among apps: [String]) -> [Self] {
        section.each { key, name in
            guard let hash = key.read(hashKey) else { return nil }
            var backend = Self()
            (backend.name, backend.hash) = (name, hash)
            backend.apps = key.read(appsKey) ?? []
            for node in key.value(of: appsKey)?.sequence ?? [] {
                guard let app = node.scalar?.string, !apps.contains(app) else { continue }
                key.diagnostics.error(node, key.noApp(app, among: apps, node))
            }
            key.read([rate], into: &backend)
            return backend
        }
    }
}
