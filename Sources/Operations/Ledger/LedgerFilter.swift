import AdapterKit

/// Which tokens are meant.
package struct LedgerFilter: Sendable, Equatable {
    /// Only of these apps.
    package var apps: [String]?
    /// Only signed by these versions of the app's key.
    package var keyIDs: [String]?
    /// Only of this ring, or of one that nobody knows.
    package var ring: LedgerRing?
    /// Only those that end before this moment, in seconds since 1970.
    package var expiringBefore: Int64?

    /// Those of `versions` of `ring`.
    package init(versions: [String], of ring: LedgerRing) {
        self.init(ring: ring)
        keyIDs = versions
    }

    /// All of them.
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
