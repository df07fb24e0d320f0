import AdapterKit

/// Which tokens are meant.
package struct LedgerFilter: Sendable, Equatable {
    /// Only of these apps.
    package var apps: [String]?
    /// Only signed by this version of the app's key.
    package var keyID: String?
    /// Only of this ring, or of one that nobody knows.
    package var ring: LedgerRing?
    /// Only those that end before this moment, in seconds since 1970.
    package var expiringBefore: Int64?

    /// All of them.
    package init(
        apps: [String]? = nil, keyID: String? = nil, ring: LedgerRing? = nil, expiringBefore: Int64? = nil
    ) {
        self.apps = apps
        self.ring = ring
        self.keyID = keyID
        self.expiringBefore = expiringBefore
    }

    func matches(_ label: LedgerLabel, expiresAt: Int64) -> Bool {
        if let apps, !apps.contains(where: { $0.hasSameBytes(as: label.app) }) { return false }
        if let keyID, !keyID.hasSameBytes(as: label.keyID) { return false }
        if let ring, ring.owner(of: label) == .other { return false }
        if let expiringBefore, expiresAt >= expiringBefore { return false }
        return true
    }
}
