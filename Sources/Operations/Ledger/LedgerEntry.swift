package import Pipeline

/// What a record of the token topic says of itself in its headers: who signed the token, until when it lives, which is newest.
package struct LedgerEntry: Sendable, Equatable {
    /// The app.
    package let app: String
    /// The id of the key's version.
    package let keyID: String
    /// The ring of that version; nil for a record of before records named it.
    package let ring: String?
    /// The end of the token's life, in seconds since 1970.
    package let expiresAt: Int64
    /// Its version; a higher one is newer.
    package let version: Int64

    /// Reads `headers`; nil where they are no replacement token's.
    package init?(headers: [RecordHeader]) {
        guard let source = headers.text("ce_source"), source.hasPrefix(Self.sourcePrefix),
            let keyID = headers.text("remint-key-id"),
            let expiresAt = headers.text("remint-expires-at").flatMap({ Int64($0) }),
            let version = headers.text("remint-version").flatMap({ Int64($0) })
        else { return nil }
        app = String(source.dropFirst(Self.sourcePrefix.count))
        self.keyID = keyID
        ring = headers.text("remint-key-ring")
        self.expiresAt = expiresAt
        self.version = version
    }

    static let sourcePrefix = "/remint/"
}
