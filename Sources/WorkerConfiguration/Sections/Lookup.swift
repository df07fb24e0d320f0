public import AdapterKit

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
                /// A key or a password.
                case secret
                /// Certificates in PEM.
                case certificates
            }

            /// The file's path, relative to the working folder, like a key ring's.
            public let path: String
            /// The kind of the file's contents.
            public let content: Content
            /// The place in the configuration that names the file.
            public let place: FileLocation
        }

        /// The question to the vendor; never `.off`.
        public var mode: LookupMode
        /// The account whose connections, limits and credentials the app shares. It is the first app with the same
        /// endpoint and credentials, or the app itself. All apps of an account agree in `url`, `authorization`,
        /// `credentials`, `certificateAuthority`, `timeout`, `rates` and `concurrency`.
        public var account: String
        /// The URL of the API: scheme, host, port if it is not the scheme's default, base path; no slash at the end. It
        /// is https, or http to this machine or if the file explicitly allows it.
        public var url: String
        /// The kind of credentials that the vendor requires.
        public var authorization: LookupTerms.Authorization
        /// The credentials that `authorization` needs.
        public var credentials: LookupCredentials
        /// The file of the certificate authorities the endpoint is checked against, in PEM; nil for the system's.
        public var certificateAuthority: String?
        /// The timeout of a request, 100 ms to 5 minutes.
        public var timeout: Duration
        /// The longest time that an event waits in its lane for the answer before it moves to the retry tiers, up to 10
        /// s.
        public var patience: Duration
        /// The handling of a user unknown to the vendor.
        public var unknownUser: LookupTerms.UnknownUser
        /// The handling of an event whose look-up returned no answer.
        public var onFailure: OnFailure
        /// The time for which the answer "the user exists" is cached, 1 s to 7 days.
        public var existsFor: Duration
        /// The time for which the answer "the user is gone" is cached, 1 s to 7 days.
        public var goneFor: Duration
        /// The time for which the answer "the vendor does not know the user" is cached, 1 s to 7 days.
        public var unknownFor: Duration
        /// The limits of the account, all of which hold: the vendor's, and the configured one behind them.
        public var rates: [LookupTerms.Rate]
        /// The most users in one request.
        public var batch: Int
        /// The most concurrent requests of the account, 1 to 64.
        public var concurrency: Int
        /// The files named for it.
        public var files: [File]
        /// The fingerprint of the endpoint and the credentials, including the contents of the certificate authorities'
        /// file.
        public var endpointFingerprint = Fingerprint()
    }

    /// The settings common to the look-ups of all apps.
    public struct Lookups: Sendable, WithDefaults {
        /// The most answers that are cached at once, over all apps.
        public var cache = 100_000

        /// Every default.
        public init() {}
    }
}

extension Configuration.Lookups {
    static let settings: [Setting<Self>] = [
        .integer(
            "cache", \.cache, in: 100...10_000_000, change: .reloads,
            "How many answers of look-ups are remembered at once, over all apps.")
    ]
}

extension Configuration.Lookup {
    static let section = SectionDescription(
        "lookup",
        """
        What the vendor's REST API is asked about a user before a token is minted. Every key may stand here while the mode is off; \
        nothing of it is used then, and no file is opened. Apps with one endpoint and the same credentials share the limits, and must \
        agree about them, timeout and certificate_authority.
        """,
        keys: keys,
        sections: [
            SectionDescription(
                "cache", "How long an answer is believed.",
                keys: [
                    KeyDescription(
                        "exists", .duration(cacheRange), standard: DurationText.format(Standard.existsFor),
                        change: .reloads,
                        "That a user exists."),
                    KeyDescription(
                        "gone", .duration(cacheRange), standard: DurationText.format(Standard.goneFor),
                        change: .reloads,
                        "That a user is gone."),
                    KeyDescription(
                        "unknown", .duration(cacheRange), standard: DurationText.format(Standard.unknownFor),
                        change: .reloads,
                        "That a user is not known."),
                ])
        ])

    private static let keys = [
        KeyDescription(
            "mode", .choice(LookupMode.allCases.map(\.rawValue)), standard: LookupMode.off.rawValue, change: .reloads,
            """
            verify: whether the user exists; enrich: that, and what tokens may contain of the user besides the id, for vendors whose \
            answers have it. Which vendors can be asked, and what their settings need for it, is in their README.md.
            """),
        KeyDescription(
            "endpoint", .url, example: "https://rest.fra-01.braze.eu", change: .reloads,
            """
            The API's address. Required where each account has its own, otherwise the vendor's. https, unless the host is this machine \
            (127.0.0.0/8, ::1, localhost); no query, no fragment, no user name. A path is put in front of the API's paths.
            """),
        KeyDescription(
            "insecure", .bool, standard: "false", change: .reloads,
            "true allows http beyond this machine. Credentials and user ids can then be read on their way."),
        KeyDescription(
            "certificate_authority", .path, example: "ca.pem", change: .reloads,
            "Certificate authorities in PEM, where the endpoint's certificate is not from one the system knows."),
        KeyDescription(
            "key_file", .path, example: "secrets/braze-rest-key", change: .reloads,
            """
            The file of the API key, for vendors that take one, readable by the worker alone. Where a token is the credential, no key \
            or password is taken.
            """),
        KeyDescription(
            "key", .text, example: "${BRAZE_REST_KEY}", isSecret: true, change: .reloads,
            "The API key itself, in place of key_file."),
        KeyDescription(
            "username", .text, example: "remint", change: .reloads, "The user name, for vendors that take one."),
        KeyDescription(
            "password_file", .path, example: "secrets/rest-password", change: .reloads, "The file of its password."),
        KeyDescription(
            "password", .text, example: "${REST_PASSWORD}", isSecret: true, change: .reloads,
            "The password itself, in place of password_file."),
        KeyDescription(
            "unknown_user", .choice(LookupTerms.UnknownUser.allCases.map(\.rawValue)), example: "reject",
            change: .reloads,
            """
            What happens for a user that the vendor does not know: mint a token, or reject. The default is the vendor's: reject for \
            Braze, which does not distinguish a deleted user from a new one, mint for all other vendors. A user who is known to be gone gets none \
            in any case.
            """),
        KeyDescription(
            "on_failure", .choice(OnFailure.allCases.map(\.rawValue)), standard: Standard.onFailure.rawValue,
            change: .reloads,
            "What happens where there is no answer: retry in the retry tiers, or mint as if the answer had been good."),
        KeyDescription(
            "timeout", .duration(timeoutRange), example: "10s", change: .reloads,
            "How long an answer may take. The default is the vendor's, mostly 10s."),
        KeyDescription(
            "patience", .duration(patienceRange), standard: DurationText.format(Standard.patience),
            change: .reloads,
            "How long an event waits in place for its answer before it goes to the retry tiers."),
        KeyDescription(
            "rate", .rate, example: "4/s", change: .reloads,
            """
            Requests a second or a minute: 4/s, 200/m. By default the vendor's own limit, which this can only lower; for a Braze \
            account with the faster of its two limits up to 40/s. Each worker counts by itself: with several, write each one's share.
            """),
        KeyDescription(
            "concurrency", .integer(concurrencyRange), standard: "\(Standard.concurrency)",
            change: .reloads,
            "Requests under way at once."),
    ]

    /// The defaults of keys for which the vendor's terms have no value.
    enum Standard {
        static let onFailure = OnFailure.retry
        static let patience = Duration.seconds(1)
        static let existsFor = Duration.seconds(3600)
        static let goneFor = Duration.seconds(600)
        static let unknownFor = Duration.seconds(60)
        static let concurrency = 4
    }

    static let timeoutRange: ClosedRange<Duration> = .milliseconds(100)...(.seconds(300))
    static let patienceRange: ClosedRange<Duration> = .zero...(.seconds(10))
    static let cacheRange: ClosedRange<Duration> = .seconds(1)...(.seconds(7 * 86_400))
    static let concurrencyRange = 1...64
}
