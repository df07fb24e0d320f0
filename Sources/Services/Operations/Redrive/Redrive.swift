package import AdapterKit
package import Kafka
package import Pipeline
package import WorkerConfiguration

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

/// The operator's request for the dead letters that a filter matches.
package enum LetterWork: Sendable {
    /// Parks the letters, so that no redrive finds them.
    case park(Parking)
    /// Puts parked letters back on the dead letters' topic.
    case unpark
    /// Sends the events of parked letters back to their topics, unless an event was redriven `maximumRedrives` times
    /// already.
    case redrive(maximumRedrives: Int)
}

/// The work, letter by letter: the records to write for each letter.
package struct LetterOrder: Sendable {
    package enum Step: Sendable {
        /// The filter does not match the record.
        case other
        /// The letter stays, for this reason.
        case refused(Redrive.Refusal)
        case write(HandledLetter)

        /// The topic to write to, or the reason why the letter stays; nil for a record that the filter does not match.
        var target: PlannedLetter.Target? {
            switch self {
            case .other: nil
            case .refused(let reason): .failure(RedriveRefused(reason))
            case .write(let letter): .success(letter.record.topic)
            }
        }
    }

    let work: LetterWork
    let filter: DeadLetterFilter
    let now: UnixTime
    private let topics: Configuration.Topics
    private let inputs: Set<String>
    private let decoder: EventDecoder

    /// The order to do `work` with the letters that `filter` matches at the time `now`.
    package init(_ work: LetterWork, _ filter: DeadLetterFilter, _ configuration: Configuration, now: UnixTime) {
        self.work = work
        self.filter = filter
        self.now = now
        topics = configuration.topics
        inputs = Set(configuration.eventTopics)
        decoder = configuration.deadLetterDecoder
    }

    /// The topic to read.
    package var source: String {
        if case .park = work { topics.deadLetters } else { topics.parkedLetters }
    }

    /// Returns the letter in `record`, without its payload.
    func entry(of record: InputRecord) -> DeadLetterEntry {
        var entry = DeadLetterEntry(record, decoder: decoder, at: now)
        if case .park = work { return entry }
        if let letter = ParkedLetter(record) { entry.place = letter.name.place }
        return entry
    }

    /// Returns the step for `record`, a record of `source`.
    package func step(_ record: InputRecord, _ states: LetterStates) -> Step {
        let entry = entry(of: record)
        switch work {
        case .park(let parking):
            guard filter.matches(entry, at: now) else { return .other }
            guard entry.code != nil, let name = LetterName(record) else { return .refused(.noDeadLetter) }
            if let state = states[name] { return .refused(state.refusal) }
            return .write(
                HandledLetter(
                    name: name, record: ParkedLetter.copy(of: record, name, parking, to: topics.parkedLetters),
                    mark: nil))
        case .unpark:
            return parked(record, entry, states, .unparked) {
                ParkedLetter.letter(of: record, to: topics.deadLetters)
            }
        case .redrive(let most):
            return parked(record, entry, states, .redriven) { () throws(RedriveRefused) in
                try Redrive(record, entry, inputs: inputs, named: filter.code, maximumRedrives: most).output
            }
        }
    }

    private func parked(
        _ record: InputRecord, _ entry: DeadLetterEntry, _ states: LetterStates, _ end: LetterEnd,
        _ output: () throws(RedriveRefused) -> ProducerRecord
    ) -> Step {
        // Marks stand on the topic too, and a letter that a redrive marked was never parked.
        guard let letter = ParkedLetter(record), states[letter.name] != .done, filter.matches(entry, at: now) else {
            return .other
        }
        guard entry.fault == nil else { return .refused(.noDeadLetter) }
        do throws(RedriveRefused) {
            return .write(
                HandledLetter(
                    name: letter.name, record: try output(),
                    mark: ParkedLetter.mark(letter.name, end, to: topics.parkedLetters)))
        } catch { return .refused(error.reason) }
    }
}

/// A dead letter of a dry run, and the outcome it would have.
package struct PlannedLetter: Sendable {
    /// The letter, without its payload.
    package let entry: DeadLetterEntry
    /// The topic to write to, or the reason why the letter stays.
    package let target: Target

    /// A topic, or the reason why a letter stays.
    package typealias Target = Result<String, RedriveRefused>
}

/// The function that a dry run calls with each letter that its filter matches.
package typealias PlannedLetterDisplay = @Sendable (PlannedLetter) -> Void

/// The time, the author and the reason of a dead letter's parking.
package struct Parking: Sendable, Equatable {
    package let at: UnixTime
    /// The name that the operator gave.
    package let by: String
    /// The reason: what the letter waits for.
    package let reason: String

    package init(at: UnixTime, by: String, reason: String) {
        self.at = at
        self.by = by
        self.reason = reason
    }
}

/// A dead letter's copy on the topic of parked letters: its key, value and headers, and headers about the parking.
package struct ParkedLetter: Sendable {
    package let name: LetterName
    /// The time of the parking; nil where the record states none that can be read.
    package let at: UnixTime?
    /// The name that the operator gave.
    package let by: String
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
