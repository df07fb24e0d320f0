public import AdapterKit
import Records

/// The dead letter of a record that could not be answered: its key, value and headers as they came, and the reason.
///
/// Headers of an earlier dead letter are replaced. All others stay.
public struct DeadLetter: Sendable {
    private let record: InputRecord
    private let provenance: Provenance
    private let rejection: Rejection
    private let stage: Stage
    private let failedAt: UnixTime
    /// The token that the vendor refused; nil for every other end.
    private let refused: RefusedToken?

    public init(
        _ record: InputRecord, _ rejection: Rejection, at stage: Stage, on failedAt: UnixTime,
        refused: RefusedToken? = nil
    ) {
        self.init(record, Provenance(record), rejection, at: stage, on: failedAt, refused: refused)
    }

    init(
        _ record: InputRecord, _ provenance: Provenance, _ rejection: Rejection, at stage: Stage,
        on failedAt: UnixTime, refused: RefusedToken?
    ) {
        self.record = record
        self.refused = refused
        self.provenance = provenance
        self.rejection = rejection
        self.stage = stage
        self.failedAt = failedAt
    }

    /// The dead letter with the whole record; by reference for a batch whose records nobody has.
    public var output: OutputRecord {
        if record.batch != nil { return reference }
        return OutputRecord(
            destination: .deadLetters, key: record.key, value: record.value, headers: record.keptHeaders + added)
    }

    /// The dead letter by reference, for a topic that refuses the whole record: the record's position and its size.
    public var reference: OutputRecord {
        let size = RecordHeader(HopHeaders.size, String(record.value?.count ?? 0))
        // A key of up to 1 kB is kept. The value, which made the record too large, is not.
        let key = record.key.flatMap { $0.count <= 1024 ? $0 : nil }
        return OutputRecord(destination: .deadLetters, key: key, value: nil, headers: added + [size])
    }

    static func isReference(_ record: OutputRecord) -> Bool { record.body.text(HopHeaders.size) != nil }

    private var added: [RecordHeader] {
        var headers = [
            RecordHeader(HopHeaders.code, rejection.code.rawValue),
            RecordHeader(HopHeaders.stage, stage.rawValue),
            RecordHeader(HopHeaders.detail, rejection.detail),
        ]
        headers += provenance.headers
        headers += [
            RecordHeader(HopHeaders.attempts, String(provenance.attempts + 1)),
            RecordHeader(HopHeaders.failedAt, failedAt.description),
            RecordHeader(HopHeaders.redrives, String(Provenance.redrives(of: record.body))),
        ]
        headers += refused?.headers ?? []
        if !provenance.history.isEmpty {
            let reason = rejection.code.rawValue
            headers.append(
                RecordHeader(HopHeaders.history, provenance.history(adding: reason, at: stage, on: failedAt)))
        }
        return headers
    }
}

/// The headers of a dead letter, read, without its payload.
public struct DeadLetterEntry: Sendable {
    /// The letter's place in the dead letters' topic. The reader of a copy sets it to the original's place.
    public var place: LetterPlace
    /// The app that the event names; nil if the event names none or cannot be read.
    public let app: String?
    public let eventID: String?
    /// The reason code; nil for a record that no worker dead-lettered.
    public let code: ErrorCode?
    /// The stage at which the event failed.
    public let stage: Stage?
    public let detail: String
    /// The result of each attempt, if there were several.
    public let history: String
    /// The position at which a worker first consumed the event.
    public let origin: RecordPosition?
    /// The time at which the event was dead-lettered.
    public let failedAt: UnixTime?
    public let attempts: Int
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

public struct DeadLetterFilter: Sendable, Equatable {
    public var place: LetterPlace?
    /// Selects the events of this app.
    public var app: String?
    /// Selects the events with this code.
    public var code: ErrorCode?
    public var eventID: String?
    /// Selects the events that failed at this stage.
    public var stage: Stage?
    /// Selects the letters that are at most this old, in seconds.
    public var newerThan: Int64?
    /// Selects the letters that are at least this old, in seconds.
    public var olderThan: Int64?

    /// Selects the events that a worker consumed from here.
    public var origin: OriginChoice?
    public var since: UnixTime?
    /// Selects the letters that failed before this time.
    public var until: UnixTime?

    public init() {}

    /// Returns whether the filter selects `entry` at the time `now`. An entry without a time matches only a filter
    /// without an age and without times.
    public func matches(_ entry: DeadLetterEntry, at now: UnixTime) -> Bool {
        if let place, entry.place != place { return false }
        if let origin, entry.origin.map(origin.matches) != true { return false }
        if let app, entry.app.map({ app.hasSameBytes(as: $0) }) != true { return false }
        if let eventID, entry.eventID.map({ eventID.hasSameBytes(as: $0) }) != true { return false }
        if let code, entry.code != code { return false }
        if let stage, entry.stage != stage { return false }
        return matchesTime(of: entry, at: now)
    }

    private func matchesTime(of entry: DeadLetterEntry, at now: UnixTime) -> Bool {
        if since != nil || until != nil {
            guard let failedAt = entry.failedAt else { return false }
            if let since, failedAt < since { return false }
            if let until, failedAt >= until { return false }
        }
        guard newerThan != nil || olderThan != nil else { return true }
        guard let age = entry.failedAt.map({ now.microseconds(since: $0) / 1_000_000 }) else { return false }
        return newerThan.map { age <= $0 } ?? true && olderThan.map { age >= $0 } ?? true
    }

    /// The filter as a string, equal for equal filters. The progress of a redrive is stored under it.
    public var description: String {
        let parts: [(String, String?)] = [
            ("app", app), ("code", code?.rawValue), ("stage", stage?.rawValue),
            ("id", eventID), ("newer", newerThan.map { "\($0)s" }), ("older", olderThan.map { "\($0)s" }),
            ("letter", place?.text), ("origin", origin?.text), ("since", since?.description),
            ("until", until?.description),
        ]
        let named = parts.compactMap { name, value in value.map { "\(name)=\($0)" } }
        return named.isEmpty ? "all" : named.joined(separator: " ")
    }
}

/// The place of a dead letter in its topic, which a person names as `partition/offset`.
public struct LetterPlace: Hashable, Sendable {
    public let partition: Int32
    public let offset: Int64

    public init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// Parses `partition/offset`; nil where `text` is no place.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]),
            0...100_000 ~= partition, 0..<Int64.max ~= offset
        else { return nil }
        self.init(partition: partition, offset: offset)
    }

    public var text: String { "\(partition)/\(offset)" }
}

/// A topic, a partition or a position that workers consumed events from.
public struct OriginChoice: Hashable, Sendable {
    private let topic: String
    private let partition: Int32?
    private let offset: Int64?

    /// Parses `topic`, `topic/partition` or `topic/partition/offset`; nil where `text` is none of them.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard 1...3 ~= parts.count, let topic = parts.first, !topic.isEmpty else { return nil }
        self.topic = String(topic)
        partition = parts.count > 1 ? Int32(parts[1]) : nil
        offset = parts.count > 2 ? Int64(parts[2]) : nil
        guard parts.count < 2 || partition ?? -1 >= 0, parts.count < 3 || offset ?? -1 >= 0 else { return nil }
    }

    func matches(_ position: RecordPosition) -> Bool {
        position.topic.hasSameBytes(as: topic) && partition ?? position.partition == position.partition
            && offset ?? position.offset == position.offset
    }

    var text: String {
        ([topic] + [partition.map { String($0) }, offset.map { String($0) }].compactMap(\.self)).joined(separator: "/")
    }
}
