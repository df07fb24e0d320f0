import AdapterKit

/// A filter of the ledger's tokens.
package struct LedgerFilter: Sendable, Equatable {
    /// The apps; nil for any.
    package var apps: [String]?
    /// The versions of the app's key that signed the tokens; nil for any.
    package var keyIDs: [String]?
    /// The ring of the tokens; tokens of an unknown ring match too. nil for any ring.
    package var ring: LedgerRing?
    /// The moment before which the tokens end, in seconds since 1970; nil for any.
    package var expiringBefore: Int64?

    /// A filter for tokens of `versions` of `ring`.
    package init(versions: [String], of ring: LedgerRing) {
        self.init(ring: ring)
        keyIDs = versions
    }

    /// A filter that matches tokens that fulfill each of these conditions.
    package init(
        apps: [String]? = nil, keyID: String? = nil, ring: LedgerRing? = nil, expiringBefore: Int64? = nil
    ) {
        self.apps = apps
        self.ring = ring
        keyIDs = keyID.map { [$0] }
        self.expiringBefore = expiringBefore
    }

    func matches(_ label: LedgerLabel, expiresAt: Int64) -> Bool {
        if let apps, !apps.contains(where: { $0.hasSameBytes(as: label.app) }) { return false }
        if let keyIDs, !keyIDs.contains(where: { $0.hasSameBytes(as: label.keyID) }) { return false }
        if let ring, ring.owner(of: label) == .other { return false }
        if let expiringBefore, expiresAt >= expiringBefore { return false }
        return true
    }
}
