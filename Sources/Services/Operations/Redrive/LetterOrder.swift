package import AdapterKit
import Kafka
package import Pipeline
package import WorkerConfiguration

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
