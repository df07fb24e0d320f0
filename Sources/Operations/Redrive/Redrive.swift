package import Kafka
package import Pipeline

/// A dead letter on its way back to the topic its event came from.
package struct Redrive: Sendable {
    /// Why a dead letter stays where it is.
    package enum Refusal: String, Sendable, CaseIterable {
        /// It was redriven as often as it may be; another time would only be another loop.
        case redrivenTooOften = "redriven too often"
        /// It only refers to its event, which was too large.
        case byReference = "by reference"
        /// It is no dead letter of a worker's.
        case noDeadLetter = "not a dead letter"
        /// It waits until it is unparked.
        case parked = "parked"
        /// It was sent back before, or unparked: its event has another record by now.
        case done = "done already"
    }

    /// The topic.
    package let topic: String
    /// Key and value as they came.
    package let key: [UInt8]?
    /// See `key`.
    package let value: [UInt8]?
    /// The event's own headers, where it first stood, and how often it was redriven.
    package let headers: [RecordHeader]

    /// The event of `record`, for one of the topics `inputs`: the one it came from where that is one of them, else the
    /// first.
    ///
    /// - Throws: `RedriveRefused`.
    package init(
        _ record: InputRecord, _ entry: DeadLetterEntry, inputs: [String], maximumRedrives: Int
    ) throws(RedriveRefused) {
        guard let origin = entry.origin, entry.code != nil, let first = inputs.first else {
            throw RedriveRefused(.noDeadLetter)
        }
        guard !entry.isReference else { throw RedriveRefused(.byReference) }
        guard entry.redrives < maximumRedrives else { throw RedriveRefused(.redrivenTooOften) }
        topic = inputs.contains(origin.topic) ? origin.topic : first
        key = record.key
        value = record.value
        let kept = record.headers.filter { !HopHeaders.all.contains($0.name) || Self.passedOn.contains($0.name) }
        headers = kept + [RecordHeader(HopHeaders.redrives, String(max(0, entry.redrives) + 1))]
    }

    /// The record to produce.
    package var output: ProducerRecord { ProducerRecord(topic: topic, key: key, value: value, headers: headers) }

    /// From these the worker knows the event again: its id, and when its failure was observed.
    private static let passedOn: Set<String> = [
        HopHeaders.topic, HopHeaders.partition, HopHeaders.offset, HopHeaders.timestamp,
    ]
}

/// A dead letter that is not redriven.
package struct RedriveRefused: Error, Sendable {
    /// Why.
    package let reason: Redrive.Refusal

    init(_ reason: Redrive.Refusal) { self.reason = reason }
}
