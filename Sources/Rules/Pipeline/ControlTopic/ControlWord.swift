package import AdapterKit

/// A record of the control topic: the state of an app or of a lane, or one worker's counts.
package enum ControlWord: Sendable, Equatable {
    /// The state of an app.
    case app(ControlRecord)
    /// The state of a lane.
    case lane(LaneRecord)
    /// A worker's counts of an app's refusals.
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

    /// The record's key.
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

    /// No state is known.
    package init() {}

    /// The most states that are kept: anyone who may write the topic may name any app.
    package static let most = 20_000

    /// Notes a record of the topic.
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
