public import AdapterKit
import Records

/// The headers of a dead letter, read, without its payload.
public struct DeadLetterEntry: Sendable {
    /// The app that the event names; nil if the event names none or cannot be read.
    public let app: String?
    /// The event's id.
    public let eventID: String?
    /// The reason code; nil for a record that no worker dead-lettered.
    public let code: ErrorCode?
    /// The stage at which the event failed.
    public let stage: Stage?
    /// The reason, in one line.
    public let detail: String
    /// The result of each attempt, if there were several.
    public let history: String
    /// The position at which a worker first consumed the event.
    public let origin: RecordPosition?
    /// The time at which the event was dead-lettered.
    public let failedAt: UnixTime?
    /// The number of attempts.
    public let attempts: Int
    /// The number of redrives.
    public let redrives: Int
    /// Whether the letter is a reference to an event that was too large for the topic.
    public let isReference: Bool
    /// The size of the event's value, in bytes.
    public let valueBytes: Int

    /// The reason that the record is no valid dead letter; nil if it is one. With a reason, `code`, `stage` and
    /// `origin` are nil.
    public let fault: RecordFault?

    /// Reads the headers of `record` at the time `now`. Reads the value for the app and the id only. Dead letters and
    /// parked letters have no other reader.
    public init(_ record: InputRecord, decoder: EventDecoder, at now: UnixTime) {
        let headers = record.body
        let event = try? decoder.decode(record)
        app = event?.envelope.app
        eventID = event?.envelope.id
        let named = headers.text(HopHeaders.code).flatMap(ErrorCode.init(rawValue:))
        let stood = headers.text(HopHeaders.stage).flatMap(Stage.init(rawValue:))
        let place = Provenance.origin(in: headers)
        let time = headers.text(HopHeaders.failedAt).flatMap { RFC3339.parse($0) }
        let counts = [HopHeaders.attempts, HopHeaders.redrives, HopHeaders.size].map { Self.count($0, headers) }
        let fault: RecordFault? =
            if !headers.has(HopHeaders.code) {
                .foreign
            } else if named == nil || stood == nil || place == nil || counts.contains(nil) {
                .malformed
            } else if !(time.map { ReadBackBound.admits(pastTime: $0, at: now) } ?? false) {
                .time
            } else {
                nil
            }
        self.fault = fault
        code = fault == nil ? named : nil
        stage = fault == nil ? stood : nil
        origin = fault == nil ? place : nil
        failedAt = fault == .time ? nil : time
        detail = headers.text(HopHeaders.detail) ?? ""
        history = headers.text(HopHeaders.history) ?? ""
        attempts = counts[0] ?? 0
        redrives = counts[1] ?? 0
        isReference = headers.has(HopHeaders.size)
        valueBytes = headers.has(HopHeaders.size) ? counts[2] ?? 0 : record.value?.count ?? 0
    }

    /// The largest count in a header: attempts, redrives, and the bytes of an event.
    private static let most = Int(Int32.max)

    /// Returns the count in the header `name`: 0 without such a header, nil if its value is no count.
    private static func count(_ name: String, _ headers: RecordBody) -> Int? {
        guard headers.has(name) else { return 0 }
        return headers.text(name).flatMap { Int($0) }.flatMap { 0...most ~= $0 ? $0 : nil }
    }
}

/// A selection of dead letters.
public struct DeadLetterFilter: Sendable, Equatable {
    /// Selects the events of this app.
    public var app: String?
    /// Selects the events with this code.
    public var code: ErrorCode?
    /// Selects the event with this id.
    public var eventID: String?
    /// Selects the events that failed at this stage.
    public var stage: Stage?
    /// Selects the letters that are at most this old, in seconds.
    public var newerThan: Int64?
    /// Selects the letters that are at least this old, in seconds.
    public var olderThan: Int64?

    /// Creates a filter that selects all dead letters.
    public init() {}

    /// Returns whether the filter selects `entry` at the time `now`. An entry without a time matches only a filter
    /// without an age.
    public func matches(_ entry: DeadLetterEntry, at now: UnixTime) -> Bool {
        if let app, entry.app.map({ app.hasSameBytes(as: $0) }) != true { return false }
        if let eventID, entry.eventID.map({ eventID.hasSameBytes(as: $0) }) != true { return false }
        if let code, entry.code != code { return false }
        if let stage, entry.stage != stage { return false }
        guard newerThan != nil || olderThan != nil else { return true }
        guard let age = entry.failedAt.map({ now.microseconds(since: $0) / 1_000_000 }) else { return false }
        return newerThan.map { age <= $0 } ?? true && olderThan.map { age >= $0 } ?? true
    }

    /// The filter as a string, equal for equal filters. The progress of a redrive is stored under it.
    public var description: String {
        let parts: [(String, String?)] = [
            ("app", app), ("code", code?.rawValue), ("stage", stage?.rawValue),
            ("id", eventID), ("newer", newerThan.map { "\($0)s" }), ("older", olderThan.map { "\($0)s" }),
        ]
        let named = parts.compactMap { name, value in value.map { "\(name)=\($0)" } }
        return named.isEmpty ? "all" : named.joined(separator: " ")
    }
}
