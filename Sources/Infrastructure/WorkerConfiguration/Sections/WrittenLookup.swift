import AdapterKit
import Formats
import YAMLReading
import Yams

/// The values of `apps.*.lookup`, each checked by itself for its type and range, whether the mode uses it or not.
struct WrittenLookup: Sendable, WithDefaults {
    var mode = LookupMode.off
    var endpoint: EndpointURL?
    var isInsecure = false
    /// The path of the certificate authorities' file. It may be empty until it is used.
    var certificateAuthority: String?
    /// The user name. It may be empty until it is used.
    var username: String?
    /// A secret, or the path of its file. Each may be empty until it is used.
    var secrets = Secrets()
    var unknownUser: LookupTerms.UnknownUser?
    var onFailure = Configuration.Lookup.OnFailure.retry
    var timeout: Duration?
    var patience = Duration.seconds(1)
    var existsFor = Duration.seconds(3600)
    var goneFor = Duration.seconds(600)
    var unknownFor = Duration.seconds(60)
    var rate: LookupTerms.Rate?
    var concurrency = 4

    /// The secrets as the file has them.
    struct Secrets: Sendable {
        var key: String?
        var keyFile: String?
        var password: String?
        var passwordFile: String?
    }

    /// Every default.
    init() {}

    /// The values in `section`.
    init(reading section: Section) {
        section.read(Self.settings, into: &self)
        let cache = section.section(Configuration.Lookup.cache)
        cache.read(Self.cacheSettings, into: &self)
        cache.finish()
        section.finish()
    }
}

extension WrittenLookup {
    static let settings: [Setting<Self>] = [
        mode, Setting(endpointKey, ifPresent: \.endpoint), insecure, certificateAuthority,
        keyFile, key, username, passwordFile, password,
        unknownUser,
        .choice(
            "on_failure", \.onFailure, change: .reloads,
            "What happens where there is no answer: retry in the retry tiers, or mint as if the answer had been good."),
        timeout,
        .duration(
            "patience", \.patience, in: .zero...(.seconds(10)), change: .reloads,
            "How long an event waits in place for its answer before it goes to the retry tiers."),
        rate, concurrency,
    ]

    static let cacheSettings: [Setting<Self>] = [
        .duration("exists", \.existsFor, in: cacheRange, change: .reloads, "That a user exists."),
        .duration("gone", \.goneFor, in: cacheRange, change: .reloads, "That a user is gone."),
        .duration("unknown", \.unknownFor, in: cacheRange, change: .reloads, "That a user is not known."),
    ]

    private static let cacheRange: ClosedRange<Duration> = .seconds(1)...(.seconds(7 * 86_400))

    static let mode: Setting<Self> = .choice(
        "mode", \.mode, change: .reloads,
        """
        verify: whether the user exists; enrich: that, and what tokens may contain of the user besides the id, for vendors whose \
        answers have it. Which vendors can be asked, and what their settings need for it, is in their README.md.
        """)

    static let endpointKey = DeclaredKey.anyEndpoint(
        "endpoint", example: "https://rest.fra-01.braze.eu", change: .reloads,
        """
        The API's address. Required where each account has its own, otherwise the vendor's. https, unless the host is this machine \
        (127.0.0.0/8, ::1, localhost); no query, no fragment, no user name. A path is put in front of the API's paths.
        """)

    static let insecure: Setting<Self> = .bool(
        "insecure", \.isInsecure, change: .reloads,
        "true allows http beyond this machine. Credentials and user ids can then be read on their way.")

    static let unknownUser = Setting(
        DeclaredKey.choice(
            "unknown_user", example: LookupTerms.UnknownUser.reject.rawValue, change: .reloads,
            """
            What happens for a user that the vendor does not know: mint a token, or reject. The default is the vendor's: reject for \
            Braze, which does not distinguish a deleted user from a new one, mint for all other vendors. A user who is known to be gone gets none \
            in any case.
            """), ifPresent: \Self.unknownUser)

    static let timeout = Setting(
        .duration(
            "timeout", in: .milliseconds(100)...(.seconds(300)), example: "10s", change: .reloads,
            "How long an answer may take. The default is the vendor's, mostly 10s."), ifPresent: \Self.timeout)

    static let rate = Setting(
        DeclaredKey(
            KeyDescription(
                "rate", .rate, example: "4/s", change: .reloads,
                """
                Requests a second or a minute: 4/s, 200/m. By default the vendor's own limit, which this can only lower; for a Braze \
                account with the faster of its two limits up to 40/s. Each worker counts by itself: with several, write each one's share.
                """)
        ) { $0.rate($1) }, ifPresent: \Self.rate)

    static let concurrency: Setting<Self> = .integer(
        "concurrency", \.concurrency, in: 1...64, change: .reloads,
        "Requests under way at once.")

    // MARK: Credentials and files, which are looked into once they are used

    static let certificateAuthority = Setting(
        .anyText(
            "certificate_authority", form: .path, example: "ca.pem", change: .reloads,
            "Certificate authorities in PEM, where the endpoint's certificate is not from one the system knows."),
        ifPresent: \Self.certificateAuthority)

    static let keyFile = Setting(
        .anyText(
            "key_file", form: .path, example: "secrets/braze-rest-key", change: .reloads,
            """
            The file of the API key, for vendors that take one, readable by the worker alone. Where a token is the credential, no key \
            or password is taken.
            """),
        ifPresent: \Self.secrets.keyFile)

    static let key = Setting(
        .anyText(
            "key", example: "${BRAZE_REST_KEY}", isSecret: true, change: .reloads,
            "The API key itself, in place of key_file."), ifPresent: \Self.secrets.key)

    static let username = Setting(
        .anyText("username", example: "remint", change: .reloads, "The user name, for vendors that take one."),
        ifPresent: \Self.username)

    static let passwordFile = Setting(
        .anyText(
            "password_file", form: .path, example: "secrets/rest-password", change: .reloads,
            "The file of its password."), ifPresent: \Self.secrets.passwordFile)

    static let password = Setting(
        .anyText(
            "password", example: "${REST_PASSWORD}", isSecret: true, change: .reloads,
            "The password itself, in place of password_file."), ifPresent: \Self.secrets.password)
}

extension Section {
    /// Returns the rate in requests a second or a minute: `4/s`, `200/m`. It is nil if the key is absent, or after
    /// reporting an error.
    fileprivate func rate(_ name: String) -> LookupTerms.Rate? {
        guard let (text, node) = text(name) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let seconds = ["/s": 1, "/m": 60][text.dropFirst(digits.count)]
        guard let seconds, let requests = Int(digits), (1...1_000_000).contains(requests) else {
            diagnostics.error(node, "\(path(name)) must be requests a second or a minute, such as 4/s or 200/m")
            return nil
        }
        return LookupTerms.Rate(requests, perSeconds: seconds)
    }
}
