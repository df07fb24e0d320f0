package import AdapterKit
package import Formats
import YAMLReading
import Yams

extension Configuration {
    /// The gateway that devices call: `remint pickup`.
    public struct Pickup: Sendable, WithDefaults {
        /// The proof of possession that a session needs.
        public enum Proof: String, Sendable, CaseIterable {
            /// A proof is only needed where the session is bound to a key.
            case none
            /// A proof of possession is required with it (RFC 9449).
            case dpop
        }

        /// The sessions of an issuer.
        public struct Session: Sendable, Equatable, WithDefaults {
            /// The section's name under `pickup`: `session`, or `sessions.NAME`.
            package var name = "session"
            /// `iss`, byte for byte.
            package var issuer = ""
            /// The required audience, as `aud` or in its list; nil for an issuer that signs for nobody else.
            package var audience: String?
            /// The issuer's JWK Set: an https URL, or a file.
            package var keySet = ""
            package var algorithms: Set<Algorithm> = [.rs256, .ps256, .es256, .eddsa]
            package var userClaim = "sub"
            /// The tolerated difference of the issuer's clock.
            package var skew = Duration.seconds(30)
            /// The least time between two fetches of the set, however many unknown keys are shown.
            package var coolDown = Duration.seconds(30)

            package init() {}
        }

        /// The header by which a trusted proxy names the address that called it.
        public enum ProxyHeader: String, Sendable, CaseIterable {
            case xForwardedFor = "x_forwarded_for"
            /// `Forwarded` (RFC 7239).
            case forwarded
        }

        /// A trusted backend.
        public struct APIKey: Sendable, Equatable, WithDefaults {
            /// The key's name in logs and metrics.
            package var name = ""
            /// The key's SHA-256 in hexadecimal digits.
            package var hash = ""
            /// The apps it is for; empty for all.
            package var apps: [String] = []
            /// The key's requests a second.
            package var rate = 1000
        }

        /// The sessions that open an app, and how they name its user.
        public struct OpenedApp: Sendable, Equatable, WithDefaults {
            package var issuer = ""
            /// The required audience, as `aud` of the sessions or in its list; nil for the audience of each session's
            /// own section.
            package var audience: String?
            /// The claim that names the user; nil for the session's own.
            package var claim: String?
            /// The id's name, for vendors that name users by several ids; nil for one that has one.
            package var id: String?
        }

        package var place: FileLocation?
        /// The address, without brackets.
        package var host = "127.0.0.1"
        /// The port; 0 for any.
        package var port = 8080
        /// The URL that devices use, which proofs of possession must name; nil for its own address.
        package var publicURL: String?
        /// The proxies in front of it, which are believed about the address that called them.
        package var trustedProxies: [AddressRange] = []
        package var proxyHeader = ProxyHeader.xForwardedFor
        /// True if the proxies begin each connection with a header of the PROXY protocol, version 2.
        package var proxyProtocol = false
        /// The PEM files of certificate chain and key; nil for plain text, behind a proxy.
        package var certificate: (chain: String, key: String)?
        package var origins: [String] = []
        package var proof = Proof.none
        /// The file of the secret from which all instances make the nonces of proofs; nil for none.
        package var nonceSecret: String?
        /// The sessions that are known; empty where only backends ask.
        package var sessions: [Session] = []
        /// The places of their `jwks` in the file, by the sessions' names.
        package var keySetPlaces: [String: FileLocation] = [:]
        package var apiKeys: [APIKey] = []
        /// The apps that sessions open, by name. Devices reach no other.
        package var apps: [String: OpenedApp] = [:]
        /// The files of the private JWKs that open sealed tokens.
        package var sealKeys: [String] = []
        /// The memory limit of tokens, in bytes.
        package var cache = 256 << 20
        /// The age up to which the token topic's past is read after the start, if the apps' tokens live as long.
        package var follow = Duration.seconds(30 * 86_400)
        /// The maximum number of asks a second for users without a known token.
        package var coldRate = 1000
        /// The maximum number of requests a second for one user.
        package var userRate = 5
        /// The maximum number of requests a second from one user or device.
        package var callerRate = 20
        /// The maximum number of requests a second from one address, which many devices of one network may share.
        package var addressRate = 200
        /// The maximum number of refused requests a second from one address, before it has to wait.
        package var refusedRate = 20
        /// The maximum number of requests a second in all.
        package var totalRate = 5000
        package var connections = 50_000
        package var addressConnections = 5000
        package var streams = 50_000
        package var userStreams = 10
        package var addressStreams = 5000
        package var drain = Duration.seconds(10)
        /// The address of `/metrics`; nil for none.
        package var metrics: (host: String, port: Int)?

        package init() {}
    }
}

extension Configuration.Pickup {
    static let section = SectionDescription(
        "pickup",
        """
        HTTP gateway that devices and backends call (remint pickup --config FILE). Without this section, there is no \
        gateway.
        """,
        keys: .of(
            listenKey, publicURLKey, originsKey, trustedProxiesKey, metricsKey, nonceSecretKey,
            sealKeysKey) + settings.map(\.description),
        sections: [
            tls.section, session.reloadingInGateway, sessionsByName.reloadingInGateway, openedApps.reloadingInGateway,
            keysByName.reloadingInGateway,
        ], ifAbsent: .nothing)

    static let tls = CertificateKeys(
        """
        Certificate and private key of the gateway. Without this section, the gateway uses plain text, as needed \
        behind a proxy with TLS.
        """,
        examples: ("tls/chain.pem", "tls/key.pem"))

    static let listenKey = FileKey.address(
        "listen", example: "127.0.0.1:8080", isRequired: true, "Address and port of the gateway.")
    static let publicURLKey = FileKey.endpoint(
        "public_url", example: "https://tokens.example.com", change: .reloadsInGateway,
        """
        URL by which devices reach the gateway. Proofs of possession (RFC 9449) must name this URL. Default: the \
        gateway's own address.
        """)
    static let originsKey = FileKey.list(
        "origins", of: .origin, example: "[https://shop.example.com]", change: .reloadsInGateway,
        "Origins of the web pages that may call the gateway (CORS). Default: none.")
    static let trustedProxiesKey = FileKey.list(
        "trusted_proxies", example: "[10.0.0.0/8]",
        """
        Addresses and networks (CIDR) of the proxies in front of the gateway. These proxies name the address of their \
        caller in a header. The limits of an address then apply to the caller, not to the proxy. The gateway ignores \
        these headers from all other senders. Default: none.
        """)
    static let metricsKey = FileKey.address(
        "metrics", example: "127.0.0.1:9465",
        """
        Address and port at which the gateway serves /metrics, for monitoring only. By default, the gateway does not \
        serve /metrics.
        """)
    static let nonceSecretKey = FileKey.text(
        "proof_nonce_secret", form: .path, example: "secrets/nonces",
        """
        File with a secret of 32 bytes or more, mode 600, the same for all instances. Each proof of possession must \
        then contain a nonce that an instance issued in the last seconds (DPoP-Nonce). By default, proofs need no \
        nonce, and each instance accepts a proof once.
        """)
    static let sealKeysKey = FileKey.list(
        "seal_keys", of: .path, example: "[secrets/recipient.jwk]", change: .reloadsInGateway,
        """
        Files with the private JWKs that open the tokens of apps with seal. While you replace a recipient, list the \
        old and the new JWK.
        """)

    static let proxyProtocol: Setting<Self> = .bool(
        "proxy_protocol", \.proxyProtocol,
        """
        Whether the trusted proxies begin each connection with a header of the PROXY protocol, version 2. true \
        requires trusted_proxies.
        """)

    static let settings: [Setting<Self>] = [
        .choice(
            "proof", \.proof, change: .reloadsInGateway,
            """
            Proof of possession (RFC 9449) that a call with a session needs. none: no proof, unless the session is \
            bound to a key. dpop: each session must be bound to a key, and needs its proof.
            """),
        .choice(
            "proxy_header", \.proxyHeader,
            """
            Header in which the trusted proxies name the address of their caller: X-Forwarded-For, or Forwarded (RFC \
            7239).
            """),
        proxyProtocol,
        .bytes(
            "cache", \.cache, in: (1 << 20)...(256 << 30),
            """
            Maximum memory for tokens and the data that belongs to them. If a caller needs a token that is not in this \
            memory, a worker mints a new token.
            """),
        .duration(
            "follow", \.follow, in: .seconds(60)...(.seconds(400 * 86_400)),
            """
            Maximum age of the older records that the gateway reads from the token topic after its start. The gateway \
            reads the newest records first, and already serves calls in this time.
            """),
        .integer(
            "cold_rate", \.coldRate, in: 1...1_000_000,
            """
            Maximum number of tokens a second that the gateway requests for users without a known token. Further calls \
            wait for their turn, or get 503.
            """),
        .integer(
            "user_rate", \.userRate, in: 1...100_000, change: .reloadsInGateway,
            "Maximum number of requests a second for one user, from all callers together."),
        .integer(
            "caller_rate", \.callerRate, in: 1...100_000, change: .reloadsInGateway,
            "Maximum number of requests a second from one user or device."),
        .integer(
            "address_rate", \.addressRate, in: 1...10_000_000, change: .reloadsInGateway,
            """
            Maximum number of requests a second from one address, for IPv6 from one /64. Many devices of one network, \
            or the devices behind a proxy, may share an address.
            """),
        .integer(
            "refused_rate", \.refusedRate, in: 1...100_000, change: .reloadsInGateway,
            """
            Maximum number of refused requests a second from one address. Above this limit, callers from the address \
            have to wait. API keys, and sessions that the gateway accepted before, are exempt.
            """),
        .integer(
            "total_rate", \.totalRate, in: 1...10_000_000, change: .reloadsInGateway,
            """
            Maximum number of requests a second in total. A quarter is reserved for API keys, and for sessions that \
            the gateway accepted before.
            """),
        .duration(
            "drain", \.drain, in: .zero...(.seconds(600)),
            """
            Time for which the gateway continues to serve after SIGTERM, while /health/ready already returns 503. In \
            this time, load balancers and Kubernetes begin to send devices to other instances. \
            worker.shutdown_deadline begins after this time.
            """),
        .integer(
            "connections", \.connections, in: 1...10_000_000,
            """
            Maximum number of open connections; health checks have 32 further connections. At this limit, the gateway \
            closes an idle connection for each new connection, first those of unknown callers. Each connection is an \
            open file, and the gateway needs 768 further files. If the system's limit of open files is lower, the \
            gateway lowers the default. With any other value, the gateway does not start in this case.
            """),
        .integer(
            "address_connections", \.addressConnections, in: 1...10_000_000,
            "Maximum number of open connections from one address."),
        .integer(
            "streams", \.streams, in: 1...10_000_000,
            """
            Maximum number of open streams in total. Streams and waiting calls together have at most three quarters of \
            connections.
            """),
        .integer(
            "user_streams", \.userStreams, in: 1...10_000,
            "Maximum number of open streams of one user of an app, and of that user's calls that wait."),
        .integer(
            "address_streams", \.addressStreams, in: 1...10_000_000,
            "Maximum number of open streams from one address, and of its calls that wait."),
    ]
}

// MARK: Reading

extension Configuration.Pickup {
    /// The gateway in the configuration `root`; nil where the file has none.
    ///
    /// - Parameter names: the names of the configuration's apps.
    init?(reading section: Section, in root: Section, apps names: [String]) {
        guard root.key(of: Self.section) != nil else { return nil }
        defer { section.finish() }
        place = section.diagnostics.place(of: section.node)
        if let address = section.read(Self.listenKey) { (host, port) = (address.host, address.port) }
        metrics = section.read(Self.metricsKey).map { ($0.host, $0.port) }
        publicURL = section.read(Self.publicURLKey)?.text
        section.read(Self.settings, into: &self)
        trustedProxies = Self.trustedProxies(section)
        if proxyProtocol, section.value(of: Self.trustedProxiesKey) == nil {
            section.error(
                Self.proxyProtocol, "needs trusted_proxies: the addresses of the proxies that send the header")
        }
        origins = Self.origins(section)
        sealKeys = (section.read(Self.sealKeysKey) ?? []).map(section.diagnostics.resolve)
        nonceSecret = section.read(Self.nonceSecretKey).map(section.diagnostics.resolve)
        certificate = section.certificate(Self.tls)
        let found = Session.read(section)
        sessions = found.compactMap { $0?.session }
        for case .some(let (session, place)) in found { keySetPlaces[session.name] = place }
        // Without all sessions, nobody knows which of them opens an app.
        let isWhole = Self.hasCallers(section) && sessions.count == found.count
        apps = OpenedApp.read(section.section(Self.openedApps), among: names, isWhole ? sessions : nil)
        apiKeys = APIKey.read(section.section(Self.keysByName), among: names)
        if !Self.hasCallers(section) {
            section.missing(
                Self.session.name,
                "pickup has neither session nor api_keys, so every call is refused; add session or api_keys")
        }
    }

    /// Returns whether the file has sessions or API keys, with or without errors.
    private static func hasCallers(_ section: Section) -> Bool {
        ![session, sessionsByName, keysByName].allSatisfy { section.value(of: $0) == nil }
    }

    /// The schemes of apps with a web view, and of browsers' extensions.
    private static let appSchemes = ["capacitor", "ionic", "tauri", "chrome-extension", "moz-extension"]

    /// Origins as browsers send them (RFC 6454, section 6.2): compared byte for byte, so that one in another spelling is no page's.
    private static func origins(_ section: Section) -> [String] {
        let origins = section.read(originsKey) ?? []
        for origin in origins {
            let scheme = String(origin.prefix { $0 != ":" })
            // An app's own scheme has no port that could be left out.
            let text = appSchemes.contains(scheme) ? "https" + origin.dropFirst(scheme.count) : origin
            let url = try? EndpointURL(parsing: text)
            guard url.map({ "\(scheme)://\($0.authority)" }) != origin else { continue }
            section.error(
                originsKey,
                "are origins as browsers send them, lowercase and without a path, such as https://shop.example.com")
        }
        return origins
    }

    private static func trustedProxies(_ section: Section) -> [AddressRange] {
        let texts = section.read(trustedProxiesKey) ?? []
        let ranges = texts.compactMap { AddressRange($0) }
        if ranges.count != texts.count {
            section.error(trustedProxiesKey, "are addresses or networks without further bits, such as 10.0.0.0/8")
        }
        return ranges
    }
}
