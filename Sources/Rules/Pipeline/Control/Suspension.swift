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
        case everyone
        /// The users who refused a token: too few users got tokens for a conclusion about the others.
        case refusingUsers = "refusing_users"
    }

    public let app: String
    /// The reason that the app's events wait.
    public let cause: Cause
    /// The users whose events wait; `everyone` for a pause.
    public let reach: Reach
    public let since: UnixTime
    /// The worker that suspended the app, or the operator who paused it.
    public let by: String
    public let why: String
    /// The number of users who refused their tokens; 0 for a pause.
    public let users: Int
    /// The key version that signed the refused tokens; nil for a pause.
    public let keyVersion: String?
    /// The end; nil if a worker or an operator has to end it.
    public let until: UnixTime?

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

    public func isOver(at now: UnixTime) -> Bool { until.map { $0 <= now } ?? false }
}

/// A change that an operator should know of.
public enum SuspensionAlarm: Sendable, Equatable {
    /// The reason that an app's events are answered again.
    public enum Resumption: String, Sendable {
        /// Users who got tokens do not refuse them.
        case probe
        /// An operator resumed the app, or another worker did.
        case told
        case elapsed
    }

    /// This worker suspended an app by the fleet's counts.
    case suspended(Suspension)
    /// This worker suspended an app for its own partitions, because it cannot know the other workers' counts.
    case suspendedHere(Suspension)
    /// Probes show that the vendor accepts tokens of the key: only the events of the users who refused wait.
    case narrowed(Suspension)
    /// The share of an app's users who refuse our tokens is high enough for an alert, but not for a suspension.
    case refusing(app: String, RefusalCounts)
    case accepting(app: String, RefusalCounts)
    case resumed(Suspension, Resumption)
    /// The fleet suspended or paused an app, at another worker or by an operator.
    case told(Suspension)
}

/// A worker's counts of an app's users who refuse tokens of a key version, and of the users who got such tokens.
public struct RefusalCounts: Sendable, Equatable {
    public var keyVersion: String
    public var refusing: Int
    /// The number of users who got tokens, including those who refuse.
    public var minted: Int
    public var at: UnixTime

    public init(keyVersion: String, refusing: Int, minted: Int, at: UnixTime) {
        self.keyVersion = keyVersion
        self.refusing = refusing
        self.minted = minted
        self.at = at
    }
}

/// A record of the control topic with a worker's counts of an app, which the other workers add to their own.
///
/// The key is `refusals/GROUP/APP/WORKER`. Value:
/// `{"group":"remint","app":"shop","worker":"w-1","key_version":"2026-11",
/// "refusing":12,"minted":30,"at":"2026-11-24T03:00:00Z"}`.
/// A null value deletes the counts. There is no member `state`, so that workers of earlier releases, which read the key
/// as an app's name, ignore the record.
public struct RefusalRecord: Sendable, Equatable {
    private static let prefix = "refusals/"
    public let group: String
    public let app: String
    public let worker: String
    /// The counts; nil if the worker deletes them.
    public let counts: RefusalCounts?

    /// Creates a record of the fleet `group` with the counts of `app` by `worker`.
    public init(group: String, app: String, worker: String, counts: RefusalCounts?) {
        self.group = group
        self.app = app
        self.worker = worker
        self.counts = counts
    }

    /// Returns whether `key` is the key of a worker's counts.
    public static func isKey(_ key: [UInt8]?) -> Bool { key?.starts(with: prefix.utf8) == true }

    /// Reads a record of the topic at the time `now`; nil for another fleet's record.
    ///
    /// - Throws: `RecordFault` for an invalid record.
    public init?(key: [UInt8]?, value: [UInt8]?, group: String, at now: UnixTime) throws(RecordFault) {
        guard Self.isKey(key), let key, let text = String(validating: key, as: UTF8.self) else { throw .foreign }
        guard let value else {
            self.init(takingBack: text, group: group)
            return
        }
        guard let root = try? JSONDocument(parsing: value, limits: .init(bytes: 16 << 10, depth: 4)).root,
            let owner = root["group"]?.string
        else { throw .malformed }
        guard group.hasSameBytes(as: owner) else { return nil }
        guard let app = root["app"]?.string, let worker = root["worker"]?.string,
            let version = root["key_version"]?.string, let at = root["at"]?.string.flatMap(RFC3339.parse),
            let refusing = root["refusing"]?.integer.flatMap({ Int(exactly: $0) }),
            let minted = root["minted"]?.integer.flatMap({ Int(exactly: $0) }),
            refusing >= 0, minted >= refusing, minted <= Self.mostUsers
        else { throw .malformed }
        guard ReadBackBound.admits(pastTime: at, at: now) else { throw .time }
        self.init(
            group: group, app: app, worker: worker,
            counts: RefusalCounts(keyVersion: version, refusing: refusing, minted: minted, at: at))
        guard self.key == key else { throw .mismatched }
    }

    /// Reads the key of a record without a value; nil for another fleet's record. If a name contains a slash, the
    /// deletion has no effect and the counts expire.
    private init?(takingBack key: String, group: String) {
        let start = "\(Self.prefix)\(group)/"
        guard key.utf8.starts(with: start.utf8) else { return nil }
        let parts = key.utf8.dropFirst(start.utf8.count).split(separator: UInt8(ascii: "/"), maxSplits: 1)
        guard parts.count == 2 else { return nil }
        self.init(group: group, app: String(Substring(parts[0])), worker: String(Substring(parts[1])), counts: nil)
    }

    /// More users than any fleet has, so that sums do not overflow.
    private static let mostUsers = 1 << 40

    public var key: [UInt8] { Array("\(Self.prefix)\(group)/\(app)/\(worker)".utf8) }

    /// The record's value; nil if it deletes the counts.
    public var value: [UInt8]? {
        guard let counts else { return nil }
        var json = JSONWriter(capacity: 160)
        json.beginObject()
        json.member("group", group)
        json.member("app", app)
        json.member("worker", worker)
        json.member("key_version", counts.keyVersion)
        json.member("refusing", Int64(counts.refusing))
        json.member("minted", Int64(counts.minted))
        json.member("at", counts.at.description)
        json.endObject()
        return json.bytes
    }
}
