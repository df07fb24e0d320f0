import JOSE

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
