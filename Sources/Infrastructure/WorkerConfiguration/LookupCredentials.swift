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
