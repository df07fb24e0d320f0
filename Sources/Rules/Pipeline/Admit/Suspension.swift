public import AdapterKit

/// A suspension or pause of an app: its events wait, because the vendor refuses its tokens or because an operator
/// paused it.
public struct Suspension: Sendable, Equatable {
    /// The reason that the app's events wait.
    public enum Cause: String, Sendable, CaseIterable {
        /// The loop guard suspended the app, because the vendor refuses our tokens. Ends when a probe is not refused.
        case suspended
        /// An operator paused the app. Ends when an operator resumes it, or at its end.
        case paused
    }

    /// The users whose events wait.
    public enum Reach: String, Sendable, CaseIterable {
        /// Every user of the app.
        case everyone
        /// The users who refused a token: too few users got tokens for a conclusion about the others.
        case refusingUsers = "refusing_users"
    }

    /// The app.
    public let app: String
    /// The reason that the app's events wait.
    public let cause: Cause
    /// The users whose events wait; `everyone` for a pause.
    public let reach: Reach
    /// The start.
    public let since: UnixTime
    /// The worker that suspended the app, or the operator who paused it.
    public let by: String
    /// The observation or the operator's reason, in one line.
    public let why: String
    /// The number of users who refused their tokens; 0 for a pause.
    public let users: Int
    /// The key version that signed the refused tokens; nil for a pause.
    public let keyVersion: String?
    /// The end; nil if a worker or an operator has to end it.
    public let until: UnixTime?

    /// Creates a suspension with these parts.
    public init(
        app: String, cause: Cause = .suspended, reach: Reach = .everyone, since: UnixTime, by: String = "",
        why: String = "", users: Int = 0,
        keyVersion: String? = nil, until: UnixTime? = nil
    ) {
        self.app = app
        self.cause = cause
        self.reach = reach
        self.since = since
        self.by = by
        self.why = why
        self.users = users
        self.keyVersion = keyVersion
        self.until = until
    }

    /// Returns whether the suspension has passed its end.
    public func isOver(at now: UnixTime) -> Bool { until.map { $0 <= now } ?? false }
}
