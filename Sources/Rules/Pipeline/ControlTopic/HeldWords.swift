package import AdapterKit

/// The states of apps and lanes that a worker knows from the control topic or wrote to it. A topic that was created again
/// lacks them, and a worker that reads only the new topic would answer events that others keep waiting.
package struct HeldWords: Sendable {
    private var words: [[UInt8]: ControlWord] = [:]

    /// No state is known.
    package init() {}

    /// Notes a record of the topic.
    package mutating func note(_ word: ControlWord) { words[word.key] = word.end == nil ? nil : word }

    /// Returns the states at the time `now` that are in none of `others`, the records of a new topic, in the order of their
    /// keys.
    package func missing(in others: [ControlWord], at now: UnixTime) -> [ControlWord] {
        let known = Set(others.map(\.key))
        return words.values.filter { !known.contains($0.key) && !($0.end ?? { _ in true })(now) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }
}

extension ControlWord {
    /// Returns whether the suspension or the pause of the record is over at a time; nil for a record without one.
    fileprivate var end: ((UnixTime) -> Bool)? {
        switch self {
        case .app(let record): record.suspension?.isOver
        case .lane(let record): record.pause?.isOver
        case .refusals: nil
        }
    }
}
