import AdapterKit

/// A rejection whose vendor code states that no token fixes the failure and that the key is the cause.
struct KeyBlame: Sendable {
    let rejection: Rejection
    /// The version that signed the reported token; nil if the report does not show it.
    let version: String?
}
