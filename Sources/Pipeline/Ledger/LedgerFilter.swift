import AdapterKit

/// Which tokens are meant.
public struct LedgerFilter: Sendable, Equatable {
    /// Only of these apps.
    public var apps: [String]?
    /// Only signed by this version of the app's key.
    public var keyID: String?
    /// Only those that end before this moment, in seconds since 1970.
    public var expiringBefore: Int64?

    /// All of them.
    public init(apps: [String]? = nil, keyID: String? = nil, expiringBefore: Int64? = nil) {
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
