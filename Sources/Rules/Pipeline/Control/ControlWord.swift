public import AdapterKit

/// A record of the control topic: the state of an app or of a lane, or one worker's counts.
package enum ControlWord: Sendable, Equatable {
    case app(ControlRecord)
    case lane(LaneRecord)
    case refusals(RefusalRecord)

    /// Reads a record of the control topic at the time `now`; nil for another fleet's record. The control topic has no
    /// other reader.
    ///
    /// - Throws: `RecordFault` for an invalid record.
    package init?(key: [UInt8]?, value: [UInt8]?, group: String, at now: UnixTime) throws(RecordFault) {
        if LaneRecord.isKey(key) {
            guard let lane = try LaneRecord(key: key, value: value, group: group, at: now) else { return nil }
            self = .lane(lane)
        } else if RefusalRecord.isKey(key) {
            guard let refusals = try RefusalRecord(key: key, value: value, group: group, at: now) else { return nil }
            self = .refusals(refusals)
        } else {
            guard let app = try ControlRecord(key: key, value: value, group: group, at: now) else { return nil }
            self = .app(app)
        }
    }

    /// The record's app; nil for a lane.
    package var app: String? {
        switch self {
        case .app(let record): record.app
        case .refusals(let record): record.app
        case .lane: nil
        }
    }

    package var key: [UInt8] {
        switch self {
        case .app(let record): record.key
        case .lane(let record): record.key
        case .refusals(let record): record.key
        }
    }

    /// The record's value; nil if the record deletes its key.
    package var value: [UInt8]? {
        switch self {
        case .app(let record): record.value
        case .lane(let record): record.value
        case .refusals(let record): record.value
        }
    }
}

/// The states of apps and lanes that a worker knows from the control topic or wrote to it. A topic that was created again
/// lacks them, and a worker that reads only the new topic would answer events that others keep waiting.
package struct HeldWords: Sendable {
    private var words: [[UInt8]: ControlWord] = [:]

    package init() {}

    /// The most states that are kept: anyone who may write the topic may name any app.
    package static let most = 20_000

    package mutating func note(_ word: ControlWord) {
        guard word.end != nil else { return words[word.key] = nil }
        if words.count < Self.most || words[word.key] != nil { words[word.key] = word }
    }

    /// Returns the states at the time `now` that are in none of `others`, the records of a new topic, in the order of their
    /// keys.
    package func missing(in others: [ControlWord], at now: UnixTime) -> [ControlWord] {
        let known = Set(others.map(\.key))
        return words.values.filter { !known.contains($0.key) && !($0.end ?? { _ in true })(now) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }
}

extension ControlWord {
    /// Returns whether the suspension or the pause of the record is over at a time; nil for a record without one.
    fileprivate var end: ((UnixTime) -> Bool)? {
        switch self {
        case .app(let record): record.suspension?.isOver
        case .lane(let record): record.pause?.isOver
        case .refusals: nil
        }
    }
}

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

    public let group: String
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

    public var key: [UInt8] { Array(app.utf8) }

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

/// A record of the control topic about one lane: paused or active.
///
/// The key is `lane/LANE/GROUP`, so that fleets that share the topic do not overwrite each other's records. Value:
/// `{"group":"remint","lane":"bulk","state":"paused","since":"2026-11-24T03:00:00Z","until":"…","by":"…","why":"…"}`,
/// or the state `active`. `until` exists only if the pause has an end.
public struct LaneRecord: Sendable, Equatable {
    private static let prefix = "lane/"
    private static let active = "active"
    private static let paused = "paused"

    /// The consumer group of the fleet: the live lane's group, for every lane.
    public let group: String
    public let lane: Lane
    /// The pause of the lane; nil if the lane is active.
    public let pause: LanePause?

    /// Creates a record of the fleet `group`: `pause` pauses the lane `lane`.
    public init(group: String, lane: Lane, pause: LanePause?) {
        self.group = group
        self.lane = lane
        self.pause = pause
    }

    /// Returns whether `key` is the key of a lane's record, of any fleet.
    package static func isKey(_ key: [UInt8]?) -> Bool { key?.starts(with: prefix.utf8) == true }

    /// Reads a record of the topic at the time `now`; nil if its key names no lane of `group`. A null value resumes the
    /// lane.
    ///
    /// - Throws: `RecordFault` for a record of a lane of `group` whose value contradicts its key or is malformed.
    public init?(key: [UInt8]?, value: [UInt8]?, group: String, at now: UnixTime) throws(RecordFault) {
        guard let key, let text = String(validating: key, as: UTF8.self), text.hasPrefix(Self.prefix),
            let lane = Lane.allCases.first(where: { text.hasSameBytes(as: Self.key(of: $0, group)) })
        else { return nil }
        guard let value else {
            self.init(group: group, lane: lane, pause: nil)
            return
        }
        guard let root = try? JSONDocument(parsing: value, limits: .init(bytes: 16 << 10, depth: 4)).root,
            let owner = root["group"]?.string, let named = root["lane"]?.string, let state = root["state"]?.string
        else { throw .malformed }
        guard group.hasSameBytes(as: owner), lane.rawValue.hasSameBytes(as: named) else { throw .mismatched }
        if state == Self.active {
            self.init(group: group, lane: lane, pause: nil)
            return
        }
        guard state == Self.paused else { throw .malformed }
        let note = try ControlNote(root, at: now)
        self.init(
            group: group, lane: lane,
            pause: LanePause(lane: lane, since: note.since, by: note.by, why: note.why, until: note.until))
    }

    public var key: [UInt8] { Array(Self.key(of: lane, group).utf8) }

    public var value: [UInt8] {
        var json = JSONWriter(capacity: 160)
        json.beginObject()
        json.member("group", group)
        json.member("lane", lane.rawValue)
        json.member("state", pause == nil ? Self.active : Self.paused)
        pause?.write(to: &json)
        json.endObject()
        return json.bytes
    }

    private static func key(of lane: Lane, _ group: String) -> String { "\(prefix)\(lane.rawValue)/\(group)" }
}

/// The common members of a pause on the control topic: its start, its end, its author and its reason.
struct ControlNote {
    var since: UnixTime
    var until: UnixTime?
    var by: String
    var why: String
}

extension ControlNote {
    /// Reads the members of a record at the time `now`.
    ///
    /// - Throws: `RecordFault.time` for a record without a start, with a start more than a day ahead, or with an end
    ///   before its start.
    init(_ record: JSONValue, at now: UnixTime) throws(RecordFault) {
        guard let since = record["since"]?.string.flatMap(RFC3339.parse),
            ReadBackBound.admits(pastTime: since, at: now)
        else { throw .time }
        self.since = since
        if let until = record["until"] {
            guard let moment = until.string.flatMap(RFC3339.parse), moment >= since else { throw .time }
            self.until = moment
        }
        by = record["by"]?.string ?? ""
        why = record["why"]?.string ?? ""
    }

    func write(to json: inout JSONWriter) {
        json.member("since", since.description)
        if let until { json.member("until", until.description) }
        json.member("by", by)
        json.member("why", why)
    }
}
