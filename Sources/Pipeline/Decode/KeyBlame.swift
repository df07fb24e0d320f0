import AdapterKit

/// The word of a vendor's code that no token repairs an event and that the key is to blame.
struct KeyBlame: Sendable {
    let rejection: Rejection
    /// The version whose signature the reported token has; nil where the report does not show it.
    let version: String?
}
