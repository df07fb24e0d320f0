package import AdapterKit
public import Records

/// The headers that a worker adds to an event in retry tiers and dead letters.
///
/// A worker reads them on its own retry topics only. On any other topic, a producer wrote them: they have no effect
/// there and are not passed on.
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
    /// The key version that signed the token that the vendor refused.
    package static let refusedKeyID = "remint-refused-key-id"
    package static let refusedKeyRing = "remint-refused-key-ring"
    package static let refusedSubject = "remint-refused-subject"
    /// The headers that exist on the topic of parked letters only.
    package static let parking: Set<String> = [parkedLetter, parkedAt, parkedBy, parkedReason, parkedEnd]
    package static let all: Set<String> = parking.union([
        code, stage, detail, topic, partition, offset, timestamp, attempts, failedAt, redrives, size, notBefore,
        history, firstFailedAt, refusedKeyID, refusedKeyRing, refusedSubject,
    ])
}

extension InputRecord {
    /// The event's own headers for a retry tier or a dead letter: as they came, without hop headers, and with the
    /// event's trace context.
    var keptHeaders: [RecordHeader] {
        let kept = headers.filter { !HopHeaders.all.contains($0.name) }
        guard let trace else { return kept }
        return kept.filter { $0.name != "traceparent" && $0.name != "tracestate" } + trace.headers
    }
}

/// The origin of an event, and its hops since.
///
/// The origin is the position at which a worker first consumed the event, as returned by the broker. Only a record of a
/// retry tier states its origin in headers, because a worker wrote them. So id, age and dead letter stay the same over
/// any number of attempts. A redriven event is a new record at a new position. A producer's hop headers affect nothing
/// but `redrives`.
struct Provenance: Sendable {
    /// The position at which a worker first consumed the event.
    let origin: RecordPosition
    /// The time at which the event was produced there.
    let timestamp: UnixTime?
    let attempts: Int
    /// The result of each attempt; empty for a fresh event.
    let history: String
    /// The time of the first failed attempt; nil without one.
    let firstFailedAt: UnixTime?

    init(_ record: InputRecord) {
        let body = record.body
        guard record.lane == .retries, let stated = Self.origin(in: body) else {
            (origin, timestamp) = (record.batch?.first ?? record.origin, record.timestamp)
            (attempts, history, firstFailedAt) = (0, "", nil)
            return
        }
        origin = stated
        timestamp = Self.time(HopHeaders.timestamp, body)
        firstFailedAt = Self.firstFailure(of: record)
        attempts = Self.count(HopHeaders.attempts, body)
        let told = body.text(HopHeaders.history) ?? ""
        // A worker's history is shorter. A dead letter by reference must stay small.
        history = told.utf8.count <= 2048 ? told : ""
    }

    /// Returns the time of the first failed attempt of a retry; nil without one. It is at most the record's own time: a
    /// failure in the future would never be too old.
    static func firstFailure(of record: InputRecord) -> UnixTime? {
        guard record.lane == .retries else { return nil }
        return time(HopHeaders.firstFailedAt, record.body).map { min($0, record.timestamp ?? $0) }
    }

    /// Returns the number of redrives of the event of `body`, as the last redrive counted them.
    ///
    /// The only hop header that a worker passes on from an input topic, where a producer may write it too. It decides
    /// only whether a redrive sends the event again. A forged count can only keep the producer's own event among the
    /// dead letters.
    static func redrives(of body: RecordBody) -> Int { count(HopHeaders.redrives, body) }

    /// Returns the origin in the headers of `body`; nil if it is missing or invalid.
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

    /// The origin as the id of an event without its own id.
    var coordinates: String {
        // Built for every event without its own id. String interpolation takes five times as long.
        let bytes = ByteWriter.bytes { text in
            text.append(origin.topic.utf8.span)
            text.append(UInt8(ascii: "/"))
            text.append(decimal: Int64(origin.partition))
            text.append(UInt8(ascii: "/"))
            text.append(decimal: origin.offset)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    var headers: [RecordHeader] {
        [
            RecordHeader(HopHeaders.topic, origin.topic),
            RecordHeader(HopHeaders.partition, String(origin.partition)),
            RecordHeader(HopHeaders.offset, String(origin.offset)),
            RecordHeader(HopHeaders.timestamp, timestamp.map { String($0.milliseconds) } ?? ""),
        ]
    }

    /// Returns the history with one more entry: time, stage and reason, such as `2026-11-21T10:00:00Z mint
    /// key_unavailable`. The oldest entry is first; a long history keeps its latest entries.
    func history(adding reason: String, at stage: Stage, on time: UnixTime) -> String {
        let entry = "\(time) \(stage.rawValue) \(reason)"
        guard !history.isEmpty else { return entry }
        let entries = history.split(separator: ";").suffix(15).map { $0.drop { $0 == " " } }
        return (entries + [entry[...]]).joined(separator: "; ")
    }
}

/// The stage of the pipeline at which an event failed; the value of the header `remint-error-stage`.
public enum Stage: String, CaseIterable, Sendable {
    case decode, admit, resolve, mint, settle
}

/// A token of ours that a vendor refused, as its dead letter names it: the key version and the subject, never the
/// token.
public struct RefusedToken: Sendable, Equatable {
    public let ring: String
    /// The id of the key version; nil if the report does not show it.
    public let keyID: String?
    public let subjectKey: [UInt8]
}

extension RefusedToken {
    /// Reads the token that the dead letter `body` names; nil if it names none.
    public init?(_ body: RecordBody) {
        guard let ring = body.text(HopHeaders.refusedKeyRing), let subject = body.text(HopHeaders.refusedSubject) else {
            return nil
        }
        self.init(ring: ring, keyID: body.text(HopHeaders.refusedKeyID), subjectKey: Array(subject.utf8))
    }

    var headers: [RecordHeader] {
        (keyID.map { [RecordHeader(HopHeaders.refusedKeyID, $0)] } ?? []) + [
            RecordHeader(HopHeaders.refusedKeyRing, ring), RecordHeader(HopHeaders.refusedSubject, subjectKey),
        ]
    }
}

/// The reason that a record read back from a topic is invalid.
///
/// Any producer with access to a topic can write any record. Each type of record has one reader. It throws a fault
/// instead of guessing.
public enum RecordFault: String, Error, Sendable, CaseIterable {
    /// No worker wrote the record: its headers or its key are not those of such a record.
    case foreign
    case malformed
    /// The record's key, headers and value name different apps, subjects, keys or times.
    case mismatched
    /// The version is not positive, or more than a day ahead of the clock.
    case version
    /// A time is invalid, or more than a day ahead of the clock.
    case time
}

/// The bounds of versions and times in records that are read back. A version is a time in microseconds. A clock may be
/// ahead by a day at most.
package enum ReadBackBound {
    /// The maximum difference, one day, in seconds.
    private static let ahead: Int64 = 86_400

    /// Returns whether a worker may have assigned `version` by `now`.
    package static func admits(version: Int64, at now: UnixTime) -> Bool {
        version > 0 && version <= now.advanced(bySeconds: ahead).microseconds
    }

    /// Returns whether `time`, which was in the past when it was written, may have been written by `now`.
    package static func admits(pastTime time: UnixTime, at now: UnixTime) -> Bool {
        time <= now.advanced(bySeconds: ahead)
    }
}
