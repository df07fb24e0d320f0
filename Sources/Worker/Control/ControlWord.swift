package import AdapterKit
package import Pipeline

/// A record of the control topic: what it says of an app or of a lane.
package enum ControlWord: Sendable, Equatable {
    /// Of an app.
    case app(ControlRecord)
    /// Of a lane.
    case lane(LaneRecord)

    /// Reads a record at the time `now`; nil where it is another fleet's. The one reader of the control topic.
    ///
    /// - Throws: `RecordFault` for what is no such record.
    package init?(key: [UInt8]?, value: [UInt8]?, group: String, at now: UnixTime) throws(RecordFault) {
        if LaneRecord.isKey(key) {
            guard let lane = try LaneRecord(key: key, value: value, group: group, at: now) else { return nil }
            self = .lane(lane)
        } else {
            guard let app = try ControlRecord(key: key, value: value, group: group, at: now) else { return nil }
            self = .app(app)
        }
    }

    /// The record's key.
    package var key: [UInt8] {
        switch self {
        case .app(let record): record.key
        case .lane(let record): record.key
        }
    }

    /// The record's value.
    package var value: [UInt8] {
        switch self {
        case .app(let record): record.value
        case .lane(let record): record.value
        }
    }
}
