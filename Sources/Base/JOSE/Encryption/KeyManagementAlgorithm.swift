/// The way in which the key of a message reaches its recipient (RFC 7518, section 4.1): the `alg` of an encrypted
/// token.
///
/// RSA with PKCS#1 v1.5 padding, passwords and shared keys are not among them.
public enum KeyManagementAlgorithm: String, Sendable, CaseIterable {
    /// An ephemeral key is agreed upon with the recipient's on P-256, P-384 or P-521, and wraps the message's (section 4.6).
    case ecdhESA256KW = "ECDH-ES+A256KW"
    /// The message's key is encrypted with an RSA key of at least 2048 bits, OAEP with SHA-256 for both digests (section 4.3).
    case rsaOAEP256 = "RSA-OAEP-256"

    /// The header members of the other ways to transport a key. One of them in a header means that the sender used
    /// another algorithm.
    var foreignMembers: [String] {
        let common = ["p2s", "p2c", "iv", "tag"]
        return switch self {
        case .ecdhESA256KW: common
        case .rsaOAEP256: common + ["epk", "apu", "apv"]
        }
    }
}
