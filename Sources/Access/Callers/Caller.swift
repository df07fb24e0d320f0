/// The caller that a limit applies to.
public enum Caller: Sendable, Hashable {
    /// A user with a session.
    case user(issuer: String, user: String)
    /// A device that proves a key, by its thumbprint.
    case device(thumbprint: String)
    /// A backend with an API key, by the key's name.
    case backend(name: String)
    /// A remote address or network, as text.
    case address(String)
    /// The refused requests of a remote address or network, as text.
    case refused(address: String)
}
