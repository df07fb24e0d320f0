public import AdapterKit

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
    /// The lane.
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

    /// The record's key.
    public var key: [UInt8] { Array(Self.key(of: lane, group).utf8) }

    /// The record's value.
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
