public import AdapterKit

extension Configuration {
    /// What an app asks the vendor's REST API before it mints, and how: `apps.*.lookup`, with the vendor's terms where
    /// the file says nothing.
    public struct Lookup: Sendable {
        /// What happens to an event whose look-up brought no answer.
        public enum OnFailure: String, Sendable, CaseIterable {
            /// It waits in a retry tier and asks again, and becomes a dead letter in the end.
            case retry
            /// It gets its token: the look-up is a check that may be missed.
            case mint
        }

        /// A file the look-up needs, for what is checked before a worker starts.
        public struct File: Sendable {
            /// What it holds.
            public enum Content: Sendable {
                /// A key or a password.
                case secret
                /// Certificates in PEM.
                case certificates
            }

            /// Its path, relative to the working folder as that of a key ring is.
            public let path: String
            /// What it holds.
            public let content: Content
            /// Where it is named.
            public let place: FileLocation
        }

        /// What is asked; never `.off`.
        public var mode: LookupMode
        /// Whose connections, limits and credentials it shares: the first app with the same endpoint and credentials,
        /// or the app itself. All apps of an account agree in `url`, `authorization`, `credentials`,
        /// `certificateAuthority`, `timeout`, `rates` and `concurrency`.
        public var account: String
        /// Where the API is: scheme, host, port where it is not the scheme's own, base path; no slash at the end.
        /// https, or http to this machine or where the file asks for it in writing.
        public var url: String
        /// What a request proves its right with.
        public var authorization: LookupTerms.Authorization
        /// What `authorization` takes.
        public var credentials: LookupCredentials
        /// The file of the certificate authorities the endpoint is checked against, in PEM; nil for the system's.
        public var certificateAuthority: String?
        /// How long an answer may take, 100 ms to 5 minutes.
        public var timeout: Duration
        /// How long an event waits in place for its answer before it goes to the retry tiers, up to 10 s.
        public var patience: Duration
        /// What happens for a user whom the vendor does not know.
        public var unknownUser: LookupTerms.UnknownUser
        /// What happens where there is no answer.
        public var onFailure: OnFailure
        /// How long it is believed that a user exists, 1 s to 7 days.
        public var existsFor: Duration
        /// How long it is believed that a user is gone, 1 s to 7 days.
        public var goneFor: Duration
        /// How long it is believed that the vendor does not know a user, 1 s to 7 days.
        public var unknownFor: Duration
        /// The limits of the account, all of which hold: the vendor's, and the configured one behind them.
        public var rates: [LookupTerms.Rate]
        /// How many users a request may be about.
        public var batch: Int
        /// How many requests of the account may be under way at once, 1 to 64.
        public var concurrency: Int
        /// The files named for it.
        public var files: [File]
    }

    /// What is common to all apps' look-ups.
    public struct Lookups: Sendable {
        /// How many answers are remembered at once, over all apps.
        public var cache = 100_000
    }
}

/// What a look-up proves its right with. However it is printed, nothing of it shows.
public enum LookupCredentials: Sendable, Hashable {
    /// Nothing of the configuration's: the token for the user who is asked about is the credential.
    case none
    /// An API key: 1 to 4096 visible ASCII characters, fit for a header.
    case key(String)
    /// A user name without a colon, and a password, neither with control characters (RFC 7617, section 2).
    case basic(username: String, password: String)
}

extension LookupCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Which kind it is.
    public var description: String {
        switch self {
        case .none: "no credentials"
        case .key: "a key"
        case .basic: "a username and a password"
        }
    }

    public var debugDescription: String { description }

    /// Keeps `dump` and debuggers' summaries as silent as `description`.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
