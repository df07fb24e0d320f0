public import AdapterKit

/// An app whose events wait: because the vendor refuses the tokens we mint for it, or because an operator says so.
public struct Suspension: Sendable, Equatable {
    /// The reason its events wait.
    public enum Cause: String, Sendable, CaseIterable {
        /// The loop guard's: the vendor refuses our tokens. It ends by itself once a probe is not refused.
        case suspended
        /// An operator's. It ends when an operator says so, or when its time is over.
        case paused
    }

    /// The users whose events wait.
    public enum Reach: String, Sendable, CaseIterable {
        /// Every user of the app.
        case everyone
        /// The users who refused a token: too few were given tokens to conclude anything about the others.
        case refusingUsers = "refusing_users"
    }

    /// The app.
    public let app: String
    /// The reason its events wait.
    public let cause: Cause
    /// The users whose events wait; everyone for a pause.
    public let reach: Reach
    /// Its start.
    public let since: UnixTime
    /// The worker that suspended it, or the operator who paused it.
    public let by: String
    /// In a line, what was seen or what the operator wants to be known.
    public let why: String
    /// The number of distinct users who refused their tokens; 0 for a pause.
    public let users: Int
    /// The version of the key that signed what they refused; nil for a pause.
    public let keyVersion: String?
    /// The moment it ends by itself; nil if somebody has to end it.
    public let until: UnixTime?

    /// A suspension with these parts.
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

    /// Whether its time is over.
    public func isOver(at now: UnixTime) -> Bool { until.map { $0 <= now } ?? false }
}
