/// A subject on the ledger, by its newest token.
package struct LedgerHolder: Sendable, Equatable {
    /// The subject key.
    package let key: [UInt8]
    /// The token's time of issue, in seconds since 1970.
    package let issuedAt: Int64
    /// The token's end, in seconds since 1970.
    package let expiresAt: Int64

    /// The subject `key` with a token of these times.
    package init(key: [UInt8], issuedAt: Int64, expiresAt: Int64) {
        self.key = key
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}
