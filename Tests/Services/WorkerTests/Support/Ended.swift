import Kafka

@testable import Worker

/// The result of a commit, for comparison; errors by their names.
enum Ended: Equatable, CustomStringConvertible {
    case committed
    case aborted(String)
    case blocked(String, String)
    case unusable(String)
    case fenced(String)

    init(_ result: CommitResult) {
        switch result {
        case .committed: self = .committed
        case .aborted(let error): self = .aborted("\(error.code)")
        case .blocked(let blockage): self = .blocked(blockage.topic, "\(blockage.error.code)")
        case .unusable(let error): self = .unusable("\(error.code)")
        case .fenced(let error): self = .fenced("\(error.code)")
        }
    }

    /// Whether the same producer goes on.
    var isEnd: Bool {
        switch self {
        case .committed, .aborted, .blocked: false
        case .unusable, .fenced: true
        }
    }

    var description: String {
        switch self {
        case .committed: "committed"
        case .aborted(let code): "aborted: \(code)"
        case .blocked(let topic, let code): "blocked: \(topic): \(code)"
        case .unusable(let code): "unusable: \(code)"
        case .fenced(let code): "fenced: \(code)"
        }
    }
}

extension BlockageCheck {
    var isCleared: Bool { if case .cleared = self { true } else { false } }

    /// The code that still blocks the commit; nil if nothing blocks it, or the commit failed otherwise.
    var blockedCode: KafkaError.Code? { if case .blocked(let error) = self { error.code } else { nil } }
}
