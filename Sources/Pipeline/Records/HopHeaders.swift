import AdapterKit

/// The headers that follow an event through retry tiers and dead letters.
///
/// The worker writes them, and believes them on its own retry topics alone. On any other topic they are whatever a producer wrote:
/// they decide nothing there, and go no further.
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
    /// The key's version that signed the token which the vendor refused.
    package static let refusedKeyID = "remint-refused-key-id"
    /// The ring of that version.
    package static let refusedKeyRing = "remint-refused-key-ring"
    /// The subject key of that token.
    package static let refusedSubject = "remint-refused-subject"
    /// What stands on the topic of parked letters alone.
    package static let parking: Set<String> = [parkedLetter, parkedAt, parkedBy, parkedReason, parkedEnd]
    package static let all: Set<String> = parking.union([
        code, stage, detail, topic, partition, offset, timestamp, attempts, failedAt, redrives, size, notBefore,
        history, firstFailedAt, refusedKeyID, refusedKeyRing, refusedSubject,
    ])
}

extension InputRecord {
    /// The event's own headers, for a retry tier or a dead letter: as they came, without hop headers, and with the context of the
    /// event's trace.
    var keptHeaders: [RecordHeader] {
        let kept = headers.filter { !HopHeaders.all.contains($0.name) }
        guard let trace else { return kept }
        return kept.filter { $0.name != "traceparent" && $0.name != "tracestate" } + trace.headers
    }
}

/// The origin of an event, and its hops since.
///
/// The origin is the position that the worker consumed the event from, which is the broker's word. Only a record of a retry tier
/// states its origin in headers, because the worker itself wrote them: id, age and dead letter stay the same over any number of
/// attempts. A redriven event is a new record at a new position. A producer's hop headers change nothing but `redrives`.
struct Provenance: Sendable {
    /// The position that the event was first consumed from.
    let origin: RecordPosition
    /// When it was produced there.
    let timestamp: UnixTime?
    /// Attempts that failed so far.
    let attempts: Int
    /// What happened at each attempt; empty for a fresh event.
    let history: String
    /// When its first attempt failed; nil where none has.
    let firstFailedAt: UnixTime?

    init(_ record: InputRecord) {
        let body = record.body
        guard record.lane == .retries, let stated = Self.origin(in: body) else {
            (origin, timestamp) = (record.origin, record.timestamp)
            (attempts, history, firstFailedAt) = (0, "", nil)
            return
        }
        origin = stated
        timestamp = Self.time(HopHeaders.timestamp, body)
        // A failure that has not come yet would never be too old.
        firstFailedAt = Self.time(HopHeaders.firstFailedAt, body).map { min($0, record.timestamp ?? $0) }
        attempts = Self.count(HopHeaders.attempts, body)
        let told = body.text(HopHeaders.history) ?? ""
        // What the worker writes is shorter; a dead letter by reference must stay small.
        history = told.utf8.count <= 2048 ? told : ""
    }

    /// Returns the redrives of the event of `body` so far, as the last redrive counted them.
    ///
    /// The one hop header that a worker passes on from an input, where a producer may write it too. Nothing is decided by it but
    /// whether a redrive sends the event again, so that a forged count can only keep the producer's own event among the dead
    /// letters.
    static func redrives(of body: RecordBody) -> Int { count(HopHeaders.redrives, body) }

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

    /// The origin as the id of an event that has no other.
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

    /// The headers that state the origin.
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
