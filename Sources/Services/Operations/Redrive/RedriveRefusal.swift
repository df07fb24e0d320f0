package import AdapterKit

/// A dead letter that is not redriven.
package struct RedriveRefused: Error, Sendable, Hashable {
    /// The reason.
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

        /// The reason for people.
        package var description: String {
            switch self {
            case .redrivenTooOften, .byReference, .noDeadLetter, .parked, .done, .noLongerInput:
                name.replacing("_", with: " ")
            case .unnamed(let code): "only with --code \(code.rawValue)"
            }
        }
    }
}
