package import Kafka
import Pipeline

/// The dead letters that need no more attention: parked letters, and letters that an operator dealt with.
///
/// The states come from the topic of parked letters. A letter's state only moves from parked to done. So neither the
/// order in which partitions are read nor a duplicate record makes a difference.
package struct LetterStates: Sendable, Equatable {
    /// The state of a dead letter.
    package enum State: Sendable, Equatable {
        /// The letter waits on the topic of parked letters.
        case parked
        /// The event was sent back to its topic, or the letter is on the dead letters' topic again, at another offset.
        case done

        /// The reason why a redrive skips the letter.
        package var refusal: Redrive.Refusal { self == .parked ? .parked : .done }
    }

    private var states: [LetterName: State] = [:]

    /// States before anything was parked or sent back.
    package init() {}

    /// Returns the state of the letter `name`; nil for a letter that needs attention.
    package subscript(name: LetterName) -> State? { states[name] }

    /// The number of parked letters.
    package var parked: Int { states.values.count { $0 == .parked } }

    /// Returns the number of letters that need no attention in `bounds` of the dead letters' topic.
    package func count(within bounds: [TopicPartition: Range<Int64>]) -> Int {
        let ranges = Dictionary(bounds.map { ($0.key.partition, $0.value) }) { first, _ in first }
        return states.keys.count { ranges[$0.partition]?.contains($0.offset) == true }
    }

    /// Applies a record of the topic of parked letters.
    package mutating func take(_ body: RecordBody) {
        guard let name = body.text(HopHeaders.parkedLetter).flatMap(LetterName.init(text:)) else { return }
        if body.has(HopHeaders.parkedEnd) {
            finish(name)
        } else if states[name] == nil {
            states[name] = .parked
        }
    }

    /// Marks the letter as done.
    package mutating func finish(_ name: LetterName) { states[name] = .done }
}
