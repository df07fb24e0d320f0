public import JOSE

/// The stored form of an API key: its name, scope and hash, without the key.
public struct APIKey: Sendable {
    /// The apps that a key may use.
    public enum Scope: Sendable, Hashable {
        /// All apps.
        case all
        /// These apps alone.
        case apps([String])
    }

    /// A key that was just made.
    public struct Generated: Sendable {
        /// The key, which is shown once: `rmk_` and 43 characters of base64url.
        public let text: SecretBytes
        /// The key's SHA-256 in hexadecimal digits; the key itself is not kept.
        public let hash: String
    }

    /// The caller's name in logs, metrics and limits.
    public let name: String
    /// The apps that the key may use.
    public let scope: Scope
    let hash: [UInt8]

    /// The prefix of every key, by which scanners for leaked secrets recognize it.
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

    /// Returns a new key.
    ///
    /// - Parameter random: A function that returns the given number of unpredictable bytes:
    ///   `SecretBytes.random(count:)`.
    /// - Throws: whatever `random` throws.
    public static func generate(random: (Int) throws(JOSEError) -> SecretBytes) throws(JOSEError) -> Generated {
        let text = SecretBytes(prefix.utf8, followedBy: SecretEncoding.base64url.encode(try random(32)))
        let hash = text.withBytes { SHA256.hash($0) }
        let digits = SecretEncoding.hex.encode(SecretBytes(copying: hash))
        return Generated(text: text, hash: digits.withBytes { String(decoding: $0, as: UTF8.self) })
    }

    /// Returns whether the key is for `app`.
    func allows(_ app: String) -> Bool {
        switch scope {
        case .all: true
        case .apps(let apps): apps.contains { $0.hasSameBytes(as: app) }
        }
    }
}

/// The API keys of trusted backends.
public struct APIKeys: Sendable {
    private let keys: [APIKey]

    /// A collection of `keys`. Where two have the same hash, the last one counts.
    public init(_ keys: [APIKey]) { self.keys = keys }

    /// Whether there is no key, so that no backend may ask.
    public var isEmpty: Bool { keys.isEmpty }

    /// Returns the caller with the key `text`, which must allow `app`.
    ///
    /// - Returns: the key's name.
    /// - Throws: `AccessRefusal` with `.unknownAPIKey`, or `.appNotAllowed` with `.forbidden`.
    public func verify(_ text: [UInt8], for app: String) throws(AccessRefusal) -> String {
        guard let key = key(text) else { throw AccessRefusal(.unknownAPIKey) }
        guard key.allows(app) else { throw AccessRefusal(.appNotAllowed) }
        return key.name
    }

    /// Returns the key that `text` is, whatever app it is for; nil if there is no such key.
    ///
    /// Takes as long for a key that is none as for one that is: all hashes are compared.
    public func key(_ text: [UInt8]) -> APIKey? {
        guard APIKey.lengths.contains(text.count) else { return nil }
        let hash = SHA256.hash(text)
        var found: APIKey?
        for key in keys where SHA256.equals(key.hash, hash) { found = key }
        return found
    }
}
