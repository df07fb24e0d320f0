import AdapterKit

extension Outcome {
    /// Every outcome's name.
    package static let names = ["minted", "superseded", "skipped", "deferred", "dead_lettered"]

    /// The code of the outcome in metrics: a dead letter's code, or the reason of a deferral or a supersession.
    package var code: String {
        switch self {
        case .minted, .skipped: ""
        case .superseded(let why): why.rawValue
        case .deferred(_, let deferral): deferral.name
        case .deadLettered(let code): code.rawValue
        }
    }
}
