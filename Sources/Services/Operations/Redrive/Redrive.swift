package import AdapterKit
package import Kafka
package import Pipeline

/// A dead letter on its way back to the topic its event came from.
///
/// The event becomes a new record at a new position, under the rules of its topic, and is treated like any other. Its
/// age counts from now, unless it states the time of its failure, and without an id of its own it gets a new one.
package struct Redrive: Sendable {
    /// The topic that the worker consumed the event from.
    package let topic: String
    /// The event's key as it came.
    package let key: [UInt8]?
    /// The event's value as it came.
    package let value: [UInt8]?
    /// The event's own headers, and the number of times it was redriven.
    package let headers: [RecordHeader]

    /// The event of `record` for the topic it came from.
    ///
    /// - Parameters:
    ///   - entry: the same letter, read.
    ///   - inputs: the topics that events may be written to.
    ///   - named: the code that the operator asked for; nil for any.
    ///   - maximumRedrives: an event that was redriven this many times stays.
    package init(
        _ record: InputRecord, _ entry: DeadLetterEntry, inputs: Set<String>, named: ErrorCode?, maximumRedrives: Int
    ) throws(RedriveRefused) {
        guard let origin = entry.origin, let code = entry.code else { throw RedriveRefused(.noDeadLetter) }
        guard !entry.isReference else { throw RedriveRefused(.byReference) }
        // Any other topic has other producers: the event could claim there what it may not.
        guard inputs.contains(origin.topic) else { throw RedriveRefused(.noLongerInput) }
        guard !code.isAboutIdentity || code == named else { throw RedriveRefused(.unnamed(code)) }
        guard entry.redrives < maximumRedrives else { throw RedriveRefused(.redrivenTooOften) }
        topic = origin.topic
        key = record.key
        value = record.value
        let own = record.headers.filter { !HopHeaders.all.contains($0.name) }
        headers = own + [RecordHeader(HopHeaders.redrives, String(max(0, entry.redrives) + 1))]
    }

    package var output: ProducerRecord { ProducerRecord(topic: topic, key: key, value: value, headers: headers) }
}

/// A dead letter that is not redriven.
package struct RedriveRefused: Error, Sendable, Hashable {
    package let reason: Redrive.Refusal

    /// A letter that stays because of `reason`.
    package init(_ reason: Redrive.Refusal) { self.reason = reason }
}

extension Redrive {
    /// The reason why a dead letter stays where it is.
    package enum Refusal: Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The event was redriven as often as allowed; another redrive would only be another loop.
        case redrivenTooOften
        /// The letter only refers to its event, which was too large.
        case byReference
        /// No worker wrote the record as a dead letter.
        case noDeadLetter
        /// The letter is parked until an operator unparks it.
        case parked
        /// The event was sent back or the letter was unparked before: the event has another record by now.
        case done
        /// The event came from a topic that is no input of the configuration.
        case noLongerInput
        /// The event was refused for its identity, and the operator did not name this code.
        case unnamed(ErrorCode)

        package static var allCases: [Refusal] {
            [.redrivenTooOften, .byReference, .noDeadLetter, .parked, .done, .noLongerInput]
                + ErrorCode.allCases.filter(\.isAboutIdentity).map(Refusal.unnamed)
        }

        /// The reason as a member of JSON; one for all codes that must be named.
        package var name: String {
            switch self {
            case .redrivenTooOften: "redriven_too_often"
            case .byReference: "by_reference"
            case .noDeadLetter: "not_a_dead_letter"
            case .parked: "parked"
            case .done: "done_already"
            case .noLongerInput: "no_longer_an_input"
            case .unnamed: "needs_code"
            }
        }

        package var description: String {
            switch self {
            case .redrivenTooOften, .byReference, .noDeadLetter, .parked, .done, .noLongerInput:
                name.replacing("_", with: " ")
            case .unnamed(let code): "only with --code \(code.rawValue)"
            }
        }
    }
}
