/// The reason why a document cannot replace the current set of keys.
public enum KeySetError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The document has more bytes than the limit.
    case tooLarge
    /// The document is not JSON, or no object with an array `keys` (RFC 7517, section 5).
    case notAKeySet
    /// The document has more members than the limit.
    case tooManyKeys
    /// A key set without a key that verifies with an algorithm that is allowed: no key at all, or only others. It is the
    /// issuer's answer all the same, and withdraws the keys of before.
    case noUsableKey
    /// A shared secret that is shorter than its algorithm's digest (RFC 7518, section 3.2).
    case weakSecret

    /// The error in words, without an answer's content.
    public var description: String {
        switch self {
        case .tooLarge: "the key set is longer than \(KeySet.mostBytes) bytes"
        case .notAKeySet: "not a JWK Set: an object with an array \"keys\""
        case .tooManyKeys: "the key set has more than \(KeySet.mostKeys) members"
        case .noUsableKey: "the key set has no key for the algorithms that are allowed"
        case .weakSecret: "a shared secret is shorter than its algorithm's digest"
        }
    }
}
