public import AdapterKit

/// Which apps are suspended, because the vendor refuses their tokens for one user after the other.
///
/// A suspension holds for the key it came with: another active key, or an operator, ends it.
struct Suspensions: Sendable {
    private struct Record: Sendable {
        /// Distinct users whose token was refused, and when last; never more than it takes to suspend.
        var users: [SubjectID: UnixTime] = [:]
        /// The version of the key that signed what they refused.
        var keyVersion: String?
        var suspended: Suspension?
        var resumptions: UInt32 = 0
    }

    private let rules: AdmissionRules
    private var apps: [String: Record] = [:]

    init(_ rules: AdmissionRules) { self.rules = rules }

    /// The key's fingerprint for what is remembered of `app`; another one after each resumption, so that the refusals
    /// before it count no more.
    func print(of key: SigningKeyReference, for app: String) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(apps[app]?.resumptions ?? 0)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    /// The suspension of `app`, where its key is still the one that was refused.
    func suspension(of app: String, keyVersion: String?) -> Suspension? {
        guard let suspension = apps[app]?.suspended, suspension.keyVersion == keyVersion else { return nil }
        return suspension
    }

    /// The vendor refused a user's token beyond the limit.
    ///
    /// - Returns: the suspension, where this user makes it one.
    mutating func refused(_ user: SubjectID, of app: String, keyVersion: String, at now: UnixTime) -> Suspension? {
        var record = apps[app] ?? Record()
        defer { apps[app] = record }
        guard record.suspended?.keyVersion != keyVersion else { return nil }
        if record.keyVersion != keyVersion { (record.users, record.keyVersion) = ([:], keyVersion) }
        record.users = record.users.filter { now.microseconds(since: $0.value) < rules.suspensionWindow }
        record.users[user] = now
        guard record.users.count >= rules.usersToSuspend else { return nil }
        let suspension = Suspension(app: app, since: now, users: record.users.count, keyVersion: keyVersion)
        record.suspended = suspension
        record.users = [:]
        return suspension
    }

    /// Ends the suspension of `app`.
    ///
    /// - Returns: what ended; nil where it was not suspended.
    mutating func resume(_ app: String) -> Suspension? {
        guard let suspension = apps[app]?.suspended else { return nil }
        apps[app]?.suspended = nil
        apps[app]?.users = [:]
        apps[app]?.resumptions &+= 1
        return suspension
    }

    /// Every suspension on record, also one whose key is not active any more.
    var all: [Suspension] { apps.values.compactMap(\.suspended) }
}

/// An app whose events wait, because the vendor refuses the tokens we mint for it.
public struct Suspension: Sendable, Equatable {
    /// The app.
    public let app: String
    /// Since when.
    public let since: UnixTime
    /// How many distinct users refused their tokens.
    public let users: Int
    /// The version of the key that signed them.
    public let keyVersion: String
}
