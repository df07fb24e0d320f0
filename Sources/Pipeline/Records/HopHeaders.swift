import AdapterKit

/// The headers that follow an event through retry tiers, dead letters and redrives.
package enum HopHeaders {
    package static let code = "remint-error-code"
    package static let stage = "remint-error-stage"
    package static let detail = "remint-error-detail"
    package static let topic = "remint-origin-topic"
    package static let partition = "remint-origin-partition"
    package static let offset = "remint-origin-offset"
    package static let timestamp = "remint-origin-timestamp"
    package static let attempts = "remint-attempts"
    package static let failedAt = "remint-failed-at"
    package static let redrives = "remint-redrives"
    package static let size = "remint-origin-value-bytes"
    package static let notBefore = "remint-not-before"
    package static let history = "remint-history"
    package static let firstFailedAt = "remint-first-failed-at"
    package static let parkedLetter = "remint-parked-letter"
    package static let parkedAt = "remint-parked-at"
    package static let parkedBy = "remint-parked-by"
    package static let parkedReason = "remint-parked-reason"
    package static let parkedEnd = "remint-parked-end"
    /// What stands on the topic of parked letters alone.
    package static let parking: Set<String> = [parkedLetter, parkedAt, parkedBy, parkedReason, parkedEnd]
    package static let all: Set<String> = parking.union([
        code, stage, detail, topic, partition, offset, timestamp, attempts, failedAt, redrives, size, notBefore,
        history, firstFailedAt,
    ])
}

extension InputRecord {
    /// The headers that go on with the event where it is not answered: as they came, without those of an earlier hop, and with the
    /// context of what follows it.
    var keptHeaders: [RecordHeader] {
        let kept = headers.filter { !HopHeaders.all.contains($0.name) }
        guard let trace else { return kept }
        return kept.filter { $0.name != "traceparent" && $0.name != "tracestate" } + trace.headers
    }
}

/// Where an event first stood and what it has been through.
///
/// Only a record from a retry tier, which the worker itself wrote, and one that was redriven are asked for their origin: their
/// id, their age and what a dead letter says of them stay the same over any number of hops. Such headers can tell nothing that
/// an event's own body could not.
struct Provenance: Sendable {
    /// Where the event first stood.
    let origin: RecordPosition
    /// When it was produced there.
    let timestamp: UnixTime?
    /// Attempts that failed so far.
    let attempts: Int
    /// How often it was redriven from the dead letters.
    let redrives: Int
    /// What happened at each attempt; empty for a fresh event.
    let history: String
    /// When its first attempt failed; nil where none has.
    let firstFailedAt: UnixTime?

    init(_ record: InputRecord) {
        let body = record.body
        redrives = Self.count(HopHeaders.redrives, body)
        let stated = record.lane == .retries || redrives > 0 ? Self.origin(in: body) : nil
        origin = stated ?? record.origin
        timestamp = stated == nil ? record.timestamp : Self.time(HopHeaders.timestamp, body)
        guard record.lane == .retries, stated != nil else {
            (attempts, history, firstFailedAt) = (0, "", nil)
            return
        }
        // A failure that has not come yet would never be too old.
        firstFailedAt = Self.time(HopHeaders.firstFailedAt, body).map { min($0, record.timestamp ?? $0) }
        attempts = Self.count(HopHeaders.attempts, body)
        let told = body.text(HopHeaders.history) ?? ""
        // What the worker writes is shorter; a dead letter by reference must stay small.
        history = told.utf8.count <= 2048 ? told : ""
    }

    /// The origin a worker wrote into the headers of `body`.
    static func origin(in body: RecordBody) -> RecordPosition? {
        guard let topic = body.text(HopHeaders.topic), 1...249 ~= topic.utf8.count,
            let partition = body.text(HopHeaders.partition).flatMap({ Int32($0) }),
            let offset = body.text(HopHeaders.offset).flatMap({ Int64($0) }), partition >= 0, offset >= 0
        else { return nil }
        return RecordPosition(topic: topic, partition: partition, offset: offset)
    }

    private static func time(_ name: String, _ body: RecordBody) -> UnixTime? {
        body.text(name).flatMap { Int64($0) }.map { UnixTime(milliseconds: $0) }
    }

    private static func count(_ name: String, _ body: RecordBody) -> Int {
        body.text(name).flatMap { Int($0) }.map { min(max($0, 0), 1_000_000) } ?? 0
    }

    /// Where it first stood, as the id of an event that has no other.
    var coordinates: String {
        // Written for every event without an id of its own; interpolation takes five times as long.
        let bytes = ByteWriter.bytes { text in
            text.append(origin.topic.utf8.span)
            text.append(UInt8(ascii: "/"))
            text.append(decimal: Int64(origin.partition))
            text.append(UInt8(ascii: "/"))
            text.append(decimal: origin.offset)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The headers that say where the event came from.
    var headers: [RecordHeader] {
        [
            RecordHeader(HopHeaders.topic, origin.topic),
            RecordHeader(HopHeaders.partition, String(origin.partition)),
            RecordHeader(HopHeaders.offset, String(origin.offset)),
            RecordHeader(HopHeaders.timestamp, timestamp.map { String($0.milliseconds) } ?? ""),
        ]
    }

    /// The history with one more entry: time, stage and reason, as `2026-11-21T10:00:00Z mint key_unavailable`. Oldest
    /// first; of a long one the latest are kept.
    func history(adding reason: String, at stage: Stage, on time: UnixTime) -> String {
        let entry = "\(time) \(stage.rawValue) \(reason)"
        guard !history.isEmpty else { return entry }
        let entries = history.split(separator: ";").suffix(15).map { $0.drop { $0 == " " } }
        return (entries + [entry[...]]).joined(separator: "; ")
    }
}
