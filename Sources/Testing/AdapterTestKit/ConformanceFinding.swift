/// A broken promise of an adapter, and the part of its fixtures that the promise is about.
public struct ConformanceFinding: Sendable, Equatable, CustomStringConvertible {
    /// A part of an adapter's fixtures.
    public enum Part: Sendable, Equatable {
        /// The adapter itself, or its page.
        case adapter
        /// The example app of this name.
        case app(String)
        /// The recorded report of this name.
        case report(String)
        /// The vendor's verdicts on corrupted tokens.
        case verdicts
    }

    /// The part that the promise is about.
    public let part: Part
    /// The broken promise, in a line.
    public let text: String

    init(_ part: Part, _ text: String) {
        self.part = part
        self.text = text
    }

    /// The broken promise, for an adapter whose fixtures are files.
    public var description: String { part == .verdicts ? "verdicts.json \(text)" : text }
}

/// The corrupted tokens without a verdict. One entry for all others is missing, so one finding names them all.
struct MissingVerdicts {
    /// The number of corruptions that the finding lists by name.
    private static let most = 4

    private var names: [String] = []
    private var answer = ""

    mutating func add(_ corruption: String, answer: String) {
        guard !names.contains(corruption) else { return }
        names.append(corruption)
        self.answer = answer
    }

    var findings: [ConformanceFinding] {
        guard !names.isEmpty else { return [] }
        let more = names.count - Self.most
        let list = names.prefix(Self.most).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        return [
            ConformanceFinding(
                .verdicts, "lacks \"*\", the vendor's answer to every other corrupted token: \(list); here \(answer)")
        ]
    }
}
