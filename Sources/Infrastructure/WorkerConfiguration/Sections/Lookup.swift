package import AdapterKit
import Formats
import YAMLReading
import Yams

extension Configuration {
    /// An app's look-ups at the vendor's REST API before it mints: `apps.*.lookup`, with the vendor's terms for keys
    /// that the file leaves out.
    public struct Lookup: Sendable {
        /// The handling of an event whose look-up returned no answer.
        public enum OnFailure: String, Sendable, CaseIterable {
            /// The event waits in a retry tier and asks again, and becomes a dead letter in the end.
            case retry
            /// The event gets its token: the look-up is an optional check.
            case mint
        }

        /// A file that the look-up needs, for the checks before a worker starts.
        public struct File: Sendable {
            /// The kind of the file's contents.
            public enum Content: Sendable {
                case secret
                case certificates
            }

            /// The file's path, relative to the working folder, like a key ring's.
            package let path: String
            package let content: Content
            package let place: FileLocation
        }

        /// The question to the vendor; never `.off`.
        package var mode: LookupMode
        /// The account whose connections, limits and credentials the app shares. It is the first app with the same
        /// endpoint and credentials, or the app itself. All apps of an account agree in `url`, `authorization`,
        /// `credentials`, `certificateAuthority`, `timeout`, `rates` and `concurrency`.
        package var account: String
        /// The URL of the API: scheme, host, port if it is not the scheme's default, base path; no slash at the end. It
        /// is https, or http to this machine or if the file explicitly allows it.
        package var url: String
        /// The kind of credentials that the vendor requires.
        package var authorization: LookupTerms.Authorization
        package var credentials: LookupCredentials
        /// The file of the certificate authorities the endpoint is checked against, in PEM; nil for the system's.
        package var certificateAuthority: String?
        /// The timeout of a request, 100 ms to 5 minutes.
        package var timeout: Duration
        /// The longest time that an event waits in its lane for the answer before it moves to the retry tiers, up to 10
        /// s.
        package var patience: Duration
        package var unknownUser: LookupTerms.UnknownUser
        /// The handling of an event whose look-up returned no answer.
        package var onFailure: OnFailure
        /// The time for which the answer "the user exists" is cached, 1 s to 7 days.
        package var existsFor: Duration
        /// The time for which the answer "the user is gone" is cached, 1 s to 7 days.
        package var goneFor: Duration
        /// The time for which the answer "the vendor does not know the user" is cached, 1 s to 7 days.
        package var unknownFor: Duration
        /// The limits of the account, all of which hold: the vendor's, and the configured one behind them.
        package var rates: [LookupTerms.Rate]
        /// The most users in one request.
        package var batch: Int
        /// The most concurrent requests of the account, 1 to 64.
        package var concurrency: Int
        package var files: [File]
        /// The fingerprint of the endpoint and the credentials, including the contents of the certificate authorities'
        /// file.
        package var endpointFingerprint = Fingerprint()
    }
}

extension Configuration.Lookup {
    static let section = SectionDescription(
        "lookup",
        """
        Look-up: a request about the user to the vendor's REST API, before the worker mints a token. With mode: off, \
        the section may have any of these keys: the worker uses none of them, and opens no file. Apps with the same \
        endpoint and credentials share the limits. These apps must have the same rate, concurrency, timeout and \
        certificate_authority.
        """,
        keys: WrittenLookup.settings.map(\.description),
        sections: [cache])

    static let cache = SectionDescription(
        "cache", "Maximum age of the vendor's answers in the cache. The worker asks again if an answer is older.",
        keys: WrittenLookup.cacheSettings.map(\.description))
}

/// The credentials that a look-up sends to the vendor. Printing them never shows a secret.
public enum LookupCredentials: Sendable, Hashable {
    /// No configured credentials: the token for the user in question is the credential.
    case none
    /// An API key: 1 to 4096 visible ASCII characters, fit for a header.
    case key(String)
    /// A user name without a colon, and a password, neither with control characters (RFC 7617, section 2).
    case basic(username: String, password: String)
}

extension LookupCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of credentials, without any of their values.
    public var description: String {
        switch self {
        case .none: "no credentials"
        case .key: "a key"
        case .basic: "a username and a password"
        }
    }

    /// The same stand-in as `description`.
    public var debugDescription: String { description }

    /// Keeps `dump` and debuggers' summaries as silent as `description`.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Reads an app's look-up from the app's section and its adapter's terms.
struct LookupReader {
    let source: ConfigurationSource
    let section: Section
    let written: WrittenLookup
    let adapter: any Adapter
    /// The adapter's settings that the app does not give.
    let unset: [String]

    private var diagnostics: Diagnostics { section.diagnostics }

    /// Returns the look-up of the app `app`; nil where it is off or has errors.
    func read(app: String) -> Configuration.Lookup? {
        guard written.mode != .off else { return nil }
        guard let terms = adapter.termsOfLookups else {
            section.error(
                WrittenLookup.mode,
                "must be off: \(adapter.vendor) has no look-up, or apps.\(app).settings lacks what it takes\(lacking); see the adapter's README.md"
            )
            return nil
        }
        if written.mode == .enrich, !terms.enriches {
            section.error(
                WrittenLookup.mode, "must be off or verify: \(adapter.vendor)'s answers add nothing to a token")
        }
        let endpoint = endpoint(terms)
        let credentials = CredentialsReader(
            source: source, section: section, written: written, vendor: adapter.vendor
        ).read(terms.authorization)
        let authority = certificateAuthority(endpoint)
        let rates = rates(terms)
        guard let endpoint, let credentials else { return nil }
        let concurrency = written.concurrency
        let timeout = written.timeout ?? .seconds(terms.timeout)
        var hasher = Hasher()
        for part in [endpoint.text, "\(terms.authorization)", authority?.text ?? ""] { hasher.combine(part) }
        hasher.combine(credentials.credentials)
        hasher.combine(timeout)
        hasher.combine(concurrency)
        return Configuration.Lookup(
            mode: written.mode, account: app, url: endpoint.text, authorization: terms.authorization,
            credentials: credentials.credentials, certificateAuthority: authority?.file.path,
            timeout: timeout, patience: written.patience,
            unknownUser: written.unknownUser ?? terms.unknownUser, onFailure: written.onFailure,
            existsFor: written.existsFor, goneFor: written.goneFor,
            unknownFor: written.unknownFor, rates: rates, batch: terms.batch,
            concurrency: concurrency, files: [authority?.file, credentials.file].compactMap { $0 },
            endpointFingerprint: Fingerprint(hasher))
    }

    private var lacking: String { unset.isEmpty ? "" : " (not set: \(unset.joined(separator: ", ")))" }

    // MARK: Endpoint

    private func endpoint(_ terms: LookupTerms) -> EndpointURL? {
        let node = section.value(of: WrittenLookup.endpointKey)
        // A value that is no endpoint was reported already, except an empty one.
        guard node == nil || written.endpoint != nil else {
            if node?.scalar?.string.isEmpty == true {
                section.error(WrittenLookup.endpointKey, at: node, "is empty; give it a value or remove it")
            }
            return nil
        }
        guard let endpoint = written.endpoint ?? terms.endpoint.flatMap({ try? EndpointURL(parsing: $0) }) else {
            section.missing(
                WrittenLookup.endpointKey.name,
                "\(section.path(of: WrittenLookup.endpointKey)) is missing: each account of \(adapter.vendor) has its own; write its https URL"
            )
            return nil
        }
        if !endpoint.isEncrypted, !endpoint.isLoopback, !written.isInsecure {
            section.error(
                WrittenLookup.endpointKey, at: node ?? section.node,
                "must be https beyond this machine; or write \(section.path(of: WrittenLookup.insecure)): true")
        }
        if endpoint.isEncrypted, written.isInsecure {
            section.warning(WrittenLookup.insecure, "has no use: the endpoint is https; remove it")
        }
        return endpoint
    }

    private func certificateAuthority(_ endpoint: EndpointURL?) -> (file: Configuration.Lookup.File, text: String)? {
        let setting = WrittenLookup.certificateAuthority
        guard let text = written.certificateAuthority, let node = section.value(of: setting) else { return nil }
        guard !text.isEmpty else {
            section.error(setting, at: node, "is empty; give it a value or remove it")
            return nil
        }
        let path = diagnostics.resolve(text)
        guard let contents = section.text(ofFile: text, node, named: section.path(of: setting), source) else {
            return nil
        }
        guard contents.contains("-----BEGIN CERTIFICATE-----") else {
            diagnostics.error(
                node, "the file of \(section.path(of: setting)) holds no certificate in PEM (BEGIN CERTIFICATE)")
            return nil
        }
        if endpoint?.isEncrypted == false {
            section.warning(setting, at: node, "has no use: the endpoint is plain http; remove one of them")
        }
        let file = Configuration.Lookup.File(path: path, content: .certificates, place: diagnostics.place(of: node))
        return (file, contents)
    }

    // MARK: Limits

    /// Returns the vendor's limits with the configured one, which lowers them. Only where the vendor allows some
    /// accounts more does it replace the lower limits, up to that.
    private func rates(_ terms: LookupTerms) -> [LookupTerms.Rate] {
        guard let rate = written.rate, terms.ceiling != nil || !terms.rates.contains(rate) else { return terms.rates }
        let slowest = terms.rates.min { $0.perSecond < $1.perSecond }
        if let limit = terms.ceiling ?? slowest, rate.perSecond > limit.perSecond {
            section.error(WrittenLookup.rate, "must be at most \(limit.text), which is what \(adapter.vendor) allows")
        }
        let replaces = terms.ceiling != nil && slowest.map { rate.perSecond > $0.perSecond } == true
        let kept = replaces ? terms.rates.filter { $0.perSecond >= rate.perSecond } : terms.rates
        return kept.contains(rate) ? kept : kept + [rate]
    }
}

extension LookupTerms.Rate {
    fileprivate var perSecond: Double { Double(requests) / Double(seconds) }

    fileprivate var text: String {
        switch seconds {
        case 1: "\(requests)/s"
        case 60: "\(requests)/m"
        default: "\(requests) in \(seconds)s"
        }
    }
}

/// Finds the apps that ask one endpoint with the same credentials. To the vendor they are one account with one limit,
/// so they share connections and limits, and must agree about them.
struct LookupAccounts {
    /// An app with its look-up as the file has it.
    struct Member {
        var app: Configuration.App
        let written: WrittenLookup
        let section: Section
    }

    private struct Identity: Hashable {
        let adapter: String
        let url: String
        let scheme: String?
        let credentials: LookupCredentials
    }

    private var firsts: [Identity: Member] = [:]
    /// Adapters may declare other limits for other settings; an account keeps to all of them.
    private var rates: [String: [LookupTerms.Rate]] = [:]

    /// Returns the apps of `members`, each look-up with its account.
    static func share(_ members: [Member]) -> [Configuration.App] {
        var accounts = LookupAccounts()
        let named = members.map { accounts.name($0) }
        return named.map { app in
            guard let account = app.lookup?.account, let rates = accounts.rates[account] else { return app }
            var app = app
            app.lookup?.rates = rates
            return app
        }
    }

    private mutating func name(_ member: Member) -> Configuration.App {
        var app = member.app
        guard let lookup = app.lookup, let identity = Self.identity(lookup, app) else { return app }
        let first = firsts[identity] ?? member
        firsts[identity] = first
        Self.compare(member, to: first)
        app.lookup?.account = first.app.name
        let known = rates[first.app.name, default: []]
        rates[first.app.name] = known + lookup.rates.filter { !known.contains($0) }
        return app
    }

    /// Returns the account's identity; nil where nothing is shared, because a minted token belongs to a user and not to
    /// an account.
    private static func identity(_ lookup: Configuration.Lookup, _ app: Configuration.App) -> Identity? {
        guard lookup.credentials != .none else { return nil }
        let scheme: String? = if case .key(let scheme) = lookup.authorization { scheme } else { nil }
        return Identity(
            adapter: app.adapter.name, url: lookup.url, scheme: scheme, credentials: lookup.credentials)
    }

    private static func compare(_ member: Member, to first: Member) {
        guard let own = member.app.lookup, let other = first.app.lookup else { return }
        let isSame = [
            (WrittenLookup.certificateAuthority, own.certificateAuthority == other.certificateAuthority),
            (WrittenLookup.timeout, own.timeout == other.timeout),
            (WrittenLookup.rate, member.written.rate == first.written.rate),
            (WrittenLookup.concurrency, own.concurrency == other.concurrency),
        ]
        let section = member.section
        for (setting, isSame) in isSame where !isSame {
            section.error(
                setting,
                "differs from that of apps.\(first.app.name): both ask one endpoint with the same credentials; write the same in both"
            )
        }
    }
}
