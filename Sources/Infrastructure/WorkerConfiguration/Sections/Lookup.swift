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
    static let section = SectionDescription("lookups", "", keys: settings.map(\.description))

    static let settings: [Setting<Self>] = [
        .integer(
            "cache", \.cache, in: 100...10_000_000, change: .reloads,
            "Maximum number of look-up answers in the cache, over all apps.")
    ]
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
