public import AdapterKit
import Records

/// The headers of a dead letter, read, without its payload.
public struct DeadLetterEntry: Sendable {
    /// The letter's place in the dead letters' topic. The reader of a copy sets it to the original's place.
    public var place: LetterPlace
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
        place = LetterPlace(partition: record.origin.partition, offset: record.origin.offset)
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
