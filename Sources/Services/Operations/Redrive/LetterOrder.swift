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
    /// The outcome of one record.
    package enum Step: Sendable {
        /// The filter does not match the record.
        case other
        /// The letter stays, for this reason.
        case refused(Redrive.Refusal)
        /// The records to write for the letter.
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
