package import AdapterKit
import Kafka
package import Pipeline

/// The time, the author and the reason of a dead letter's parking.
package struct Parking: Sendable, Equatable {
    /// The time of the parking.
    package let at: UnixTime
    /// The name that the operator gave.
    package let by: String
    /// The reason: what the letter waits for.
    package let reason: String

    /// A parking with these parts.
    package init(at: UnixTime, by: String, reason: String) {
        self.at = at
        self.by = by
        self.reason = reason
    }
}

/// A dead letter's copy on the topic of parked letters: its key, value and headers, and headers about the parking.
package struct ParkedLetter: Sendable {
    /// The name of the original dead letter.
    package let name: LetterName
    /// The time of the parking; nil where the record states none that can be read.
    package let at: UnixTime?
    /// The name that the operator gave.
    package let by: String
    /// The reason of the parking.
    package let reason: String

    /// Reads a parked letter from `record`; nil for the mark of a letter that was dealt with, and for a record that is
    /// no parked letter.
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

    /// Returns a copy of `letter` for `topic`. While the copy is there, the letter counts as parked and needs no
    /// attention.
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

    /// Returns the dead letter that `parked` is a copy of, for `topic`.
    static func letter(of parked: InputRecord, to topic: String) -> ProducerRecord {
        ProducerRecord(topic: topic, key: parked.key, value: parked.value, headers: plainHeaders(of: parked))
    }

    /// Returns the mark of a letter that was dealt with, for `topic`.
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

/// The way in which a dead letter was dealt with.
enum LetterEnd: String, Sendable {
    /// The event was sent back to its topic.
    case redriven
    /// The letter is on the dead letters' topic again.
    case unparked
}
