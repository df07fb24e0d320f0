public import JOSE

/// What is kept of an API key: all but the key.
public struct APIKey: Sendable {
    /// Which apps a key is for.
    public enum Scope: Sendable, Hashable {
        /// Whichever there are.
        case all
        /// These alone.
        case apps([String])
    }

    /// A key that was just made.
    public struct Generated: Sendable {
        /// The key, which is shown once: `rmk_` and 43 characters of base64url.
        public let text: SecretBytes
        /// Its SHA-256 in hexadecimal digits, which is kept.
        public let hash: String
    }

    /// What logs, metrics and limits call the caller.
    public let name: String
    /// Which apps it is for.
    public let scope: Scope
    let hash: [UInt8]

    /// What every key begins with: a scanner for leaked secrets knows it by that.
    public static let prefix = "rmk_"
    /// The shortest text that is looked at, and the longest.
    static let lengths = 32...256

    /// A key by its hash.
    ///
    /// - Parameter hash: its SHA-256 in 64 hexadecimal digits of either case.
    /// - Returns: nil where `hash` is anything else.
    public init?(name: String, hash: String, scope: Scope) {
        guard hash.utf8.count == 64, let bytes = try? SecretEncoding.hex.decode(SecretBytes(copying: hash.utf8)) else {
            return nil
        }
        self.name = name
        self.scope = scope
        self.hash = bytes.withBytes { Array($0) }
        guard self.hash.count == 32 else { return nil }
    }

    /// A new key.
    ///
    /// - Parameter random: so many bytes that nobody can guess: `SecretBytes.random(count:)`.
    /// - Throws: whatever `random` throws.
    public static func generate(random: (Int) throws(JOSEError) -> SecretBytes) throws(JOSEError) -> Generated {
        let text = SecretBytes(prefix.utf8, followedBy: SecretEncoding.base64url.encode(try random(32)))
        let hash = text.withBytes { SHA256.hash($0) }
        let digits = SecretEncoding.hex.encode(SecretBytes(copying: hash))
        return Generated(text: text, hash: digits.withBytes { String(decoding: $0, as: UTF8.self) })
    }

    /// Whether the key is for `app`.
    func allows(_ app: String) -> Bool {
        switch scope {
        case .all: true
        case .apps(let apps): apps.contains { $0.hasSameBytes(as: app) }
        }
    }
}
