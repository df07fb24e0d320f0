package import AdapterKit

/// A dead letter that is not redriven.
package struct RedriveRefused: Error, Sendable, Hashable {
    /// Why.
    package let reason: Redrive.Refusal

    /// A letter that stays because of `reason`.
    package init(_ reason: Redrive.Refusal) { self.reason = reason }
}

extension Redrive {
    /// The reason why a dead letter stays where it is.
    package enum Refusal: Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// It was redriven as often as it may be; another time would only be another loop.
        case redrivenTooOften
        /// It only refers to its event, which was too large.
        case byReference
        /// It is no dead letter of a worker's.
        case noDeadLetter
        /// It waits until it is unparked.
        case parked
        /// It was sent back before, or unparked: its event has another record by now.
        case done
        /// Its event came from a topic that is no input of the configuration.
        case noLongerInput
        /// It was refused for whose it is, and nobody asked for this code.
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
