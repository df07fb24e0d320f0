package import Kafka
import Pipeline

/// Which dead letters want no attention any more: the parked ones, and those that were dealt with.
///
/// It is what the topic of parked letters says. A letter's states only follow one another, parked and then done, so that neither the
/// order in which partitions are read nor a record that is there twice makes a difference.
package struct LetterStates: Sendable, Equatable {
    /// What became of a dead letter.
    package enum State: Sendable, Equatable {
        /// It waits on the topic of parked letters.
        case parked
        /// It was sent back to where its event came from, or stands among the dead letters again at another place.
        case done

        /// Why a redrive leaves it.
        package var refusal: Redrive.Refusal { self == .parked ? .parked : .done }
    }

    private var states: [LetterName: State] = [:]

    /// Nothing was parked or sent back yet.
    package init() {}

    /// What `name` has come to; nil for a letter that wants attention.
    package subscript(name: LetterName) -> State? { states[name] }

    /// How many are parked.
    package var parked: Int { states.values.count { $0 == .parked } }

    /// How many of the letters in `bounds` of the dead letters' topic want no attention.
    package func count(within bounds: [TopicPartition: Range<Int64>]) -> Int {
        let ranges = Dictionary(bounds.map { ($0.key.partition, $0.value) }) { first, _ in first }
        return states.keys.count { ranges[$0.partition]?.contains($0.offset) == true }
    }

    /// Takes in a record of the topic of parked letters.
    package mutating func take(_ body: RecordBody) {
        guard let name = body.text(HopHeaders.parkedLetter).flatMap(LetterName.init(text:)) else { return }
        if body.has(HopHeaders.parkedEnd) {
            finish(name)
        } else if states[name] == nil {
            states[name] = .parked
        }
    }

    /// The letter was dealt with.
    package mutating func finish(_ name: LetterName) { states[name] = .done }
}
