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

    init() {}

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
            """
            Result if the vendor does not answer. retry: the event waits in a retry tier. mint: the worker mints a \
            token, as after a good answer.
            """),
        timeout,
        .duration(
            "patience", \.patience, in: .zero...(.seconds(10)), change: .reloads,
            """
            Longest time that an event waits in the worker for the vendor's answer. After this time, the event moves \
            to a retry tier; with on_failure: mint, the worker mints a token instead.
            """),
        rate, concurrency,
    ]

    static let cacheSettings: [Setting<Self>] = [
        .duration(
            "exists", \.existsFor, in: cacheRange, change: .reloads, "Maximum age of the answer that a user exists."),
        .duration(
            "gone", \.goneFor, in: cacheRange, change: .reloads, "Maximum age of the answer that a user is gone."),
        .duration(
            "unknown", \.unknownFor, in: cacheRange, change: .reloads,
            "Maximum age of the answer that the vendor does not know a user."),
    ]

    private static let cacheRange: ClosedRange<Duration> = .seconds(1)...(.seconds(7 * 86_400))

    static let mode: Setting<Self> = .choice(
        "mode", \.mode, change: .reloads,
        """
        Kind of the look-up. off: no look-up. verify: the worker asks whether the user exists. enrich: the worker also \
        asks for data that tokens may contain in addition to the user's id, if the vendor's answers have this data. \
        The README.md of each adapter describes its look-up, and the settings that the look-up needs.
        """)

    static let endpointKey = FileKey.anyEndpoint(
        "endpoint", example: "https://rest.fra-01.braze.eu", change: .reloads,
        """
        URL of the API. Required if each account of the vendor has its own URL; otherwise the default is the vendor's \
        URL. The URL must be https, unless the host is this machine (127.0.0.0/8, ::1, localhost) or insecure is true. \
        The URL must have no query, no fragment and no user name. The worker puts the path of the URL in front of the \
        API's paths.
        """)

    static let insecure: Setting<Self> = .bool(
        "insecure", \.isInsecure, change: .reloads,
        """
        Whether the endpoint may be http on another machine. If true, anyone on the network path can read the \
        credentials and the user ids.
        """)

    static let unknownUser = Setting(
        FileKey.choice(
            "unknown_user", example: LookupTerms.UnknownUser.reject.rawValue, change: .reloads,
            """
            Result for a user that the vendor does not know. mint: the worker mints a token. reject: the worker \
            dead-letters the event. For Braze, the default is reject, because Braze does not distinguish a deleted \
            user from a new one. For all other vendors, the default is mint. A user who is known to be gone never gets \
            a token.
            """), ifPresent: \Self.unknownUser)

    static let timeout = Setting(
        .duration(
            "timeout", in: .milliseconds(100)...(.seconds(300)), example: "10s", change: .reloads,
            """
            Longest time that the worker waits for an answer. The default depends on the vendor, and is mostly 10s.
            """), ifPresent: \Self.timeout)

    static let rate = Setting(
        FileKey(
            "rate", .rate, example: "4/s", change: .reloads,
            """
            Maximum number of requests a second or a minute, such as 4/s or 200/m. The default is the vendor's own \
            limit, and this key can only lower that limit. The exception is a Braze account with the faster of \
            Braze's two limits: for this account, up to 40/s is possible. Each worker counts only its own \
            requests. If you run several workers, set the share of each worker.
            """
        ) { $0.rate($1) }, ifPresent: \Self.rate)

    static let concurrency: Setting<Self> = .integer(
        "concurrency", \.concurrency, in: 1...64, change: .reloads,
        "Maximum number of concurrent requests.")

    // MARK: Credentials and files, which are looked into once they are used

    static let certificateAuthority = Setting(
        .anyText(
            "certificate_authority", form: .path, example: "ca.pem", change: .reloads,
            """
            File with the certificate authorities of the endpoint's certificate, in PEM. Default: the authorities of \
            the system.
            """),
        ifPresent: \Self.certificateAuthority)

    static let keyFile = Setting(
        .anyText(
            "key_file", form: .path, example: "secrets/braze-rest-key", change: .reloads,
            """
            File with the API key, for vendors that require an API key. Only the worker's account may read the file. \
            If the vendor's look-up uses a token as its credential, the configuration must have no key and no \
            password.
            """),
        ifPresent: \Self.secrets.keyFile)

    static let key = Setting(
        .anyText(
            "key", example: "${BRAZE_REST_KEY}", isSecret: true, change: .reloads,
            "API key itself, instead of key_file."), ifPresent: \Self.secrets.key)

    static let username = Setting(
        .anyText(
            "username", example: "remint", change: .reloads,
            "User name, for vendors that require a user name and a password."),
        ifPresent: \Self.username)

    static let passwordFile = Setting(
        .anyText(
            "password_file", form: .path, example: "secrets/rest-password", change: .reloads,
            "File with the password of username."), ifPresent: \Self.secrets.passwordFile)

    static let password = Setting(
        .anyText(
            "password", example: "${REST_PASSWORD}", isSecret: true, change: .reloads,
            "Password itself, instead of password_file."), ifPresent: \Self.secrets.password)
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

/// Reads the credentials of a look-up: those the vendor takes, in one place each, and no others. No message about them
/// repeats any of them.
struct CredentialsReader {
    /// Credentials, and the file a secret of theirs came from.
    typealias Found = (credentials: LookupCredentials, file: Configuration.Lookup.File?)
    private typealias Secret = (text: String, file: Configuration.Lookup.File?)

    let source: ConfigurationSource
    let section: Section
    let written: WrittenLookup
    let vendor: String

    private var diagnostics: Diagnostics { section.diagnostics }

    /// A secret that is in the configuration or in a file of its own, and the values of both keys.
    private struct SecretKeys {
        let noun: String
        let inline: Setting<WrittenLookup>
        let file: Setting<WrittenLookup>
        let value: String?
        let path: String?
    }

    private var key: SecretKeys {
        SecretKeys(
            noun: "key", inline: WrittenLookup.key, file: WrittenLookup.keyFile, value: written.secrets.key,
            path: written.secrets.keyFile)
    }

    private var password: SecretKeys {
        SecretKeys(
            noun: "password", inline: WrittenLookup.password, file: WrittenLookup.passwordFile,
            value: written.secrets.password, path: written.secrets.passwordFile)
    }

    /// Returns the credentials that `authorization` needs; nil after reporting an error.
    func read(_ authorization: LookupTerms.Authorization) -> Found? {
        switch authorization {
        case .key:
            let taken = "\(vendor) takes a key"
            refuseUsername(taken)
            refuse(password, taken)
            guard let key = secret(self.key, taken), isHeaderText(key.text, self.key) else { return nil }
            return (.key(key.text), key.file)
        case .basic:
            let taken = "\(vendor) takes a username and a password"
            refuse(key, taken)
            let username = username(taken)
            guard let password = secret(self.password, taken),
                isBasicText(password.text, node(of: self.password), origin(of: self.password)), let username
            else {
                return nil
            }
            return (.basic(username: username, password: password.text), password.file)
        case .mintedToken:
            let taken = "\(vendor) takes a token minted for the user who is asked about"
            refuse(key, taken)
            refuseUsername(taken)
            refuse(password, taken)
            return (.none, nil)
        }
    }

    private func refuse(_ keys: SecretKeys, _ taken: String) {
        for key in [keys.inline, keys.file] { refuse(key, keys.noun, taken) }
    }

    private func refuseUsername(_ taken: String) {
        refuse(WrittenLookup.username, "username", taken)
    }

    private func refuse(_ key: Setting<WrittenLookup>, _ noun: String, _ taken: String) {
        guard section.value(of: key) != nil else { return }
        diagnostics.error(section.key(of: key), "\(taken), not a \(noun); remove \(section.path(of: key))")
    }

    // MARK: One credential

    private func username(_ taken: String) -> String? {
        let key = WrittenLookup.username
        let (node, path) = (section.value(of: key), section.path(of: key))
        guard node != nil else {
            section.missing(key.name, "\(path) is missing: \(taken)")
            return nil
        }
        guard let text = written.username else { return nil }
        guard !text.isEmpty else {
            diagnostics.error(node, "\(path) is empty; give it a value")
            return nil
        }
        guard !text.contains(":") else {
            diagnostics.error(node, "\(path) must not hold a colon (RFC 7617, section 2)")
            return nil
        }
        return isBasicText(text, node, path) ? text : nil
    }

    /// Returns the secret of `keys`, in the configuration or in the file that it names.
    private func secret(_ keys: SecretKeys, _ taken: String) -> Secret? {
        let isInline = section.value(of: keys.inline) != nil
        let isFile = section.value(of: keys.file) != nil
        let path = section.path(of: keys.inline)
        if isInline, isFile {
            diagnostics.error(section.key(of: keys.file), "\(path) stands here too; keep one of them")
            return nil
        }
        guard isFile || isInline else {
            diagnostics.error(
                section.place,
                "\(path) is missing: \(taken); or name its file with \(section.path(of: keys.file))")
            return nil
        }
        guard let found = isFile ? contents(keys) : keys.value.map({ ($0, nil) }) else { return nil }
        guard !found.text.isEmpty else {
            diagnostics.error(node(of: keys), "\(origin(of: keys)) is empty; write the \(keys.noun) there")
            return nil
        }
        return found
    }

    private func contents(_ keys: SecretKeys) -> Secret? {
        guard let path = keys.path, let node = section.value(of: keys.file) else { return nil }
        let name = section.path(of: keys.file)
        guard !path.isEmpty else {
            diagnostics.error(node, "\(name) is empty; give it a value")
            return nil
        }
        guard let text = section.secret(ofFile: path, node, named: name, source) else { return nil }
        let file = Configuration.Lookup.File(
            path: diagnostics.resolve(path), content: .secret, place: diagnostics.place(of: node))
        return (text, file)
    }

    // MARK: What a header can carry

    /// Checks that `text` can be in a header as it is (RFC 9110, section 5.5); a file of several lines, for example,
    /// cannot.
    private func isHeaderText(_ text: String, _ keys: SecretKeys) -> Bool {
        guard text.utf8.count <= 4096, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            diagnostics.error(
                node(of: keys), "\(origin(of: keys)) must be up to 4096 visible ASCII characters without spaces")
            return false
        }
        return true
    }

    private func isBasicText(_ text: String, _ node: Node?, _ origin: String) -> Bool {
        let isPrintable = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        guard text.utf8.count <= 4096, isPrintable else {
            diagnostics.error(
                node,
                "\(origin) must be up to 4096 bytes without control characters (RFC 7617, section 2)")
            return false
        }
        return true
    }

    private func node(of keys: SecretKeys) -> Node? { section.value(of: keys.inline) ?? section.value(of: keys.file) }

    private func origin(of keys: SecretKeys) -> String {
        section.value(of: keys.inline) != nil
            ? section.path(of: keys.inline) : "the file of \(section.path(of: keys.file))"
    }
}
