import AdapterKit

/// The asks of suspended apps that reach a worker all the same, so that it finds a probe: one every two seconds for
/// each app. A value without a clock.
struct ProbeAsks: Sendable {
    /// The interval between two asks of an app, in microseconds.
    private static let interval: Int64 = 2_000_000
    private var latest: [String: UnixTime] = [:]

    /// Returns whether an ask of `app` may reach a worker now; the next one may after the interval.
    mutating func admits(_ app: String, at now: UnixTime) -> Bool {
        if let last = latest[app], (0..<Self.interval).contains(now.microseconds(since: last)) { return false }
        latest[app] = now
        return true
    }
}
