/// The caller that a limit applies to.
public enum Caller: Sendable, Hashable {
    /// A user with a session.
    case user(issuer: String, user: String)
    /// A device that proves a key, by its thumbprint.
    case device(thumbprint: String)
    /// A backend with an API key, by the key's name.
    case backend(name: String)
    /// A session that was verified before, by its fingerprint as text.
    case session(fingerprint: String)
    /// A remote address or network, as text.
    case address(String)
    /// The unknown callers of a remote address or network, as text.
    case strangers(address: String)
    /// The requests of a remote address or network that only ask for what is allowed, as text.
    case questions(address: String)
    /// The refused requests of a remote address or network, as text.
    case refused(address: String)
}
