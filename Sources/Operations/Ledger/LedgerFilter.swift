import AdapterKit

/// Which tokens are meant.
package struct LedgerFilter: Sendable, Equatable {
    /// Only of these apps.
    package var apps: [String]?
    /// Only signed by this version of the app's key.
    package var keyID: String?
    /// Only those that end before this moment, in seconds since 1970.
    package var expiringBefore: Int64?

    /// All of them.
    package init(apps: [String]? = nil, keyID: String? = nil, expiringBefore: Int64? = nil) {
        self.apps = apps
        self.keyID = keyID
        self.expiringBefore = expiringBefore
    }

    func matches(app: String, keyID: String, expiresAt: Int64) -> Bool {
        if let apps, !apps.contains(where: { $0.hasSameBytes(as: app) }) { return false }
        if let wanted = self.keyID, !wanted.hasSameBytes(as: keyID) { return false }
        if let expiringBefore, expiresAt >= expiringBefore { return false }
        return true
    }
}
