package import AdapterKit
import Kafka
package import Pipeline

/// When a dead letter was parked, by whom and why.
package struct Parking: Sendable, Equatable {
    /// When.
    package let at: UnixTime
    /// Who did it, as they call themselves.
    package let by: String
    /// What it waits for.
    package let reason: String

    /// A parking with these parts.
    package init(at: UnixTime, by: String, reason: String) {
        self.at = at
        self.by = by
        self.reason = reason
    }
}

/// A dead letter on the topic of parked letters, where a copy of it stands byte for byte.
package struct ParkedLetter: Sendable {
    /// Which dead letter it is a copy of.
    package let name: LetterName
    /// When, by whom and why; without a time where the record says none that can be read.
    package let at: UnixTime?
    /// See `at`.
    package let by: String
    /// See `at`.
    package let reason: String

    /// What `record` says of itself; nil for the mark of a letter that was dealt with, and for what nobody parked.
    package init?(_ record: InputRecord) {
        let headers = record.body
        guard !headers.has(HopHeaders.parkedEnd),
            let name = headers.text(HopHeaders.parkedLetter).flatMap(LetterName.init(text:))
        else { return nil }
        self.name = name
        at = headers.text(HopHeaders.parkedAt).flatMap { RFC3339.parse($0) }
        by = headers.text(HopHeaders.parkedBy) ?? ""
        reason = headers.text(HopHeaders.parkedReason) ?? ""
    }

    /// The copy of `letter` for `topic`. That it stands there is what keeps the letter from being taken for one that wants attention.
    static func copy(
        of letter: InputRecord, _ name: LetterName, _ parking: Parking, to topic: String
    ) -> ProducerRecord {
        let added = [
            RecordHeader(HopHeaders.parkedLetter, name.text), RecordHeader(HopHeaders.parkedAt, parking.at.description),
            RecordHeader(HopHeaders.parkedBy, parking.by), RecordHeader(HopHeaders.parkedReason, parking.reason),
        ]
        return ProducerRecord(
            topic: topic, key: letter.key, value: letter.value, headers: plainHeaders(of: letter) + added)
    }

    /// The dead letter that `parked` is a copy of, for `topic`.
    static func letter(of parked: InputRecord, to topic: String) -> ProducerRecord {
        ProducerRecord(topic: topic, key: parked.key, value: parked.value, headers: plainHeaders(of: parked))
    }

    /// The mark of a letter that was dealt with, for `topic`.
    static func mark(_ name: LetterName, _ end: LetterEnd, to topic: String) -> ProducerRecord {
        ProducerRecord(
            topic: topic, key: nil, value: nil,
            headers: [
                RecordHeader(HopHeaders.parkedLetter, name.text), RecordHeader(HopHeaders.parkedEnd, end.rawValue),
            ])
    }

    private static func plainHeaders(of record: InputRecord) -> [RecordHeader] {
        record.headers.filter { !HopHeaders.parking.contains($0.name) }
    }
}

/// How a dead letter was dealt with.
enum LetterEnd: String, Sendable {
    /// Its event was sent back.
    case redriven
    /// It stands among the dead letters again.
    case unparked
}
