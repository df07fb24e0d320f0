public import AdapterKit
import Records

/// What a dead letter says of itself, without its payload.
public struct DeadLetterEntry: Sendable {
    /// The app the event names; nil where it names none or cannot be read.
    public let app: String?
    /// The event's id.
    public let eventID: String?
    /// Why it was dead-lettered; nil for a record that is no dead letter of a worker's.
    public let code: ErrorCode?
    /// Where in the pipeline.
    public let stage: Stage?
    /// Why, in a line.
    public let detail: String
    /// What happened at each attempt, where there were several.
    public let history: String
    /// Where the event first stood.
    public let origin: RecordPosition?
    /// When it was dead-lettered.
    public let failedAt: UnixTime?
    /// How many attempts it had.
    public let attempts: Int
    /// How often it was redriven.
    public let redrives: Int
    /// Whether the letter only refers to the event, which was too large for the topic.
    public let isReference: Bool
    /// How large the event is, in bytes.
    public let valueBytes: Int

    /// The reason the record is no valid dead letter; nil where it is one. Where there is a reason, `code`, `stage` and `origin` are nil.
    public let fault: RecordFault?

    /// Reads the headers of `record` at the time `now`, and its value for nothing but app and id. The one reader of dead letters and
    /// parked ones.
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

    /// The most of anything that is counted in a header: attempts, redrives, and the bytes of an event.
    private static let most = Int(Int32.max)

    /// The count in the header `name`; 0 where there is no such header, nil for what is no count.
    private static func count(_ name: String, _ headers: RecordBody) -> Int? {
        guard headers.has(name) else { return 0 }
        return headers.text(name).flatMap { Int($0) }.flatMap { 0...most ~= $0 ? $0 : nil }
    }
}

/// Which dead letters are meant.
public struct DeadLetterFilter: Sendable, Equatable {
    /// Only of this app.
    public var app: String?
    /// Only with this code.
    public var code: ErrorCode?
    /// Only the event with this id.
    public var eventID: String?
    /// Only from this stage.
    public var stage: Stage?
    /// Only those that died at most so many seconds ago.
    public var newerThan: Int64?
    /// Only those that died at least so many seconds ago.
    public var olderThan: Int64?

    /// All of them.
    public init() {}

    /// Whether `entry` is meant, at the time `now`. One without a time is of any age only where no age is asked for.
    public func matches(_ entry: DeadLetterEntry, at now: UnixTime) -> Bool {
        if let app, entry.app.map({ app.hasSameBytes(as: $0) }) != true { return false }
        if let eventID, entry.eventID.map({ eventID.hasSameBytes(as: $0) }) != true { return false }
        if let code, entry.code != code { return false }
        if let stage, entry.stage != stage { return false }
        guard newerThan != nil || olderThan != nil else { return true }
        guard let age = entry.failedAt.map({ now.microseconds(since: $0) / 1_000_000 }) else { return false }
        return newerThan.map { age <= $0 } ?? true && olderThan.map { age >= $0 } ?? true
    }

    /// The filter in words, the same for the same filter: what a redrive's progress is kept under.
    public var description: String {
        let parts: [(String, String?)] = [
            ("app", app), ("code", code?.rawValue), ("stage", stage?.rawValue),
            ("id", eventID), ("newer", newerThan.map { "\($0)s" }), ("older", olderThan.map { "\($0)s" }),
        ]
        let named = parts.compactMap { name, value in value.map { "\(name)=\($0)" } }
        return named.isEmpty ? "all" : named.joined(separator: " ")
    }
}
