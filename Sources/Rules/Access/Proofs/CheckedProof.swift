/// A proof that is good, and that no request has used yet.
public struct CheckedProof: Sendable, Hashable {
    /// The thumbprint of the key that it proves (RFC 7638), which is the device's name.
    public let thumbprint: String
    let name: Fingerprint
}
