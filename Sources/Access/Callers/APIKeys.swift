import JOSE

/// The API keys of trusted backends.
public struct APIKeys: Sendable {
    private let keys: [APIKey]

    /// These keys. Where two have one hash, the last counts.
    public init(_ keys: [APIKey]) { self.keys = keys }

    /// Whether there is no key, so that no backend may ask.
    public var isEmpty: Bool { keys.isEmpty }

    /// The caller that shows `text`, and may ask for `app`.
    ///
    /// Takes as long for a key that is none as for one that is: all hashes are compared.
    ///
    /// - Returns: the key's name.
    /// - Throws: `AccessRefusal` with `.unknownAPIKey`, or `.appNotAllowed` with `.forbidden`.
    public func verify(_ text: [UInt8], for app: String) throws(AccessRefusal) -> String {
        guard APIKey.lengths.contains(text.count) else { throw AccessRefusal(.unknownAPIKey) }
        let hash = SHA256.hash(text)
        var found: APIKey?
        for key in keys where SHA256.equals(key.hash, hash) { found = key }
        guard let found else { throw AccessRefusal(.unknownAPIKey) }
        guard found.allows(app) else { throw AccessRefusal(.appNotAllowed) }
        return found.name
    }
}
