public import AdapterKit

/// A record of the control topic about one app: suspended, paused or active.
///
/// The topic is compacted and its key is the app, so the last record is the current state, for every worker and after
/// every restart. Value:
/// `{"group":"remint","app":"shop","state":"suspended","since":"2026-11-24T03:00:00Z",
/// "by":"…","why":"…","users":12,"key_version":"2026-11"}`,
/// or the state `active`. `until` exists only if the state has an end. The state `suspended_users` is a suspension of
/// only the users who refused a token; workers of earlier releases ignore it. Records of another group belong to
/// another fleet. `LaneRecord` reads those of lanes.
public struct ControlRecord: Sendable, Equatable {
    /// The state of an app whose events are answered.
    private static let active = "active"
    /// The state of a suspension of only the users who refused a token.
    private static let suspendedUsers = "suspended_users"

    /// The consumer group of the fleet.
    public let group: String
    /// The app.
    public let app: String
    /// The app's suspension or pause; nil if its events are answered.
    public let suspension: Suspension?

    /// Creates a record of the fleet `group`: `suspension` applies to `app`.
    public init(group: String, app: String, suspension: Suspension?) {
        self.group = group
        self.app = app
        self.suspension = suspension
    }

    /// Reads a record of the topic at the time `now`; nil for another fleet's record. A null value applies to every
    /// fleet and resumes the app.
    ///
    /// - Throws: `RecordFault` for an invalid record.
    public init?(key: [UInt8]?, value: [UInt8]?, group: String, at now: UnixTime) throws(RecordFault) {
        guard let key, let app = String(validating: key, as: UTF8.self), !app.isEmpty else { throw .foreign }
        guard let value else {
            self.init(group: group, app: app, suspension: nil)
            return
        }
        guard let root = try? JSONDocument(parsing: value, limits: .init(bytes: 16 << 10, depth: 4)).root,
            let owner = root["group"]?.string, let state = root["state"]?.string
        else { throw .malformed }
        guard group.hasSameBytes(as: owner) else { return nil }
        // Records of earlier releases do not repeat their app.
        if let named = root["app"], !app.hasSameBytes(as: named.string) { throw .mismatched }
        guard root["lane"] == nil else { throw .mismatched }
        if state == Self.active {
            self.init(group: group, app: app, suspension: nil)
            return
        }
        let reach: Suspension.Reach = state == Self.suspendedUsers ? .refusingUsers : .everyone
        let name = reach == .everyone ? state : Suspension.Cause.suspended.rawValue
        guard let cause = Suspension.Cause(rawValue: name), let users = Self.users(root["users"]) else {
            throw .malformed
        }
        let note = try ControlNote(root, at: now)
        self.init(
            group: group, app: app,
            suspension: Suspension(
                app: app, cause: cause, reach: reach, since: note.since, by: note.by, why: note.why, users: users,
                keyVersion: root["key_version"]?.string, until: note.until))
    }

    private static func state(of suspension: Suspension) -> String {
        suspension.reach == .refusingUsers ? suspendedUsers : suspension.cause.rawValue
    }

    /// Returns the number of users in `member`: 0 without a member, nil for an invalid one.
    private static func users(_ member: JSONValue?) -> Int? {
        guard let member else { return 0 }
        return member.integer.flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The record's key.
    public var key: [UInt8] { Array(app.utf8) }

    /// The record's value.
    public var value: [UInt8] {
        var json = JSONWriter(capacity: 160)
        json.beginObject()
        json.member("group", group)
        json.member("app", app)
        json.member("state", suspension.map(Self.state) ?? Self.active)
        if let suspension {
            ControlNote(since: suspension.since, until: suspension.until, by: suspension.by, why: suspension.why)
                .write(to: &json)
            if suspension.cause == .suspended { json.member("users", Int64(suspension.users)) }
            if let version = suspension.keyVersion { json.member("key_version", version) }
        }
        json.endObject()
        return json.bytes
    }
}
