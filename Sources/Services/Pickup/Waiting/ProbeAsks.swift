import AdapterKit

/// The asks of suspended apps that reach a worker all the same, so that it finds probes: the first one of each user in a
/// suspension, and beyond that one every two seconds for each app. So accounts that ask all the time keep no other user
/// from a worker. A value without a clock.
struct ProbeAsks: Sendable {
    private struct App {
        let since: UnixTime
        var latest: UnixTime?
        /// The hashes of the users who asked.
        var users: Set<Int> = []
    }

    /// The interval between two asks of an app, in microseconds.
    private static let interval: Int64 = 2_000_000
    /// The maximum number of users of an app who are remembered.
    private static let mostUsers = 100_000
    private var apps: [String: App] = [:]

    /// Returns whether an ask for `user`, a subject key without a challenge, may reach a worker now, in the suspension of
    /// `app` that began at `since`.
    mutating func admits(_ user: [UInt8], of app: String, since: UnixTime, at now: UnixTime) -> Bool {
        var asks = apps.removeValue(forKey: app).flatMap { $0.since == since ? $0 : nil } ?? App(since: since)
        defer { apps[app] = asks }
        if asks.users.count < Self.mostUsers, asks.users.insert(user.hashValue).inserted { return true }
        if let last = asks.latest, (0..<Self.interval).contains(now.microseconds(since: last)) { return false }
        asks.latest = now
        return true
    }
}
