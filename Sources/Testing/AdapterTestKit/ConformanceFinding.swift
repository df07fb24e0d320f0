/// A broken promise of an adapter, and the part of its fixtures that the promise is about.
public struct ConformanceFinding: Sendable, Equatable, CustomStringConvertible {
    /// A part of an adapter's fixtures.
    @nonexhaustive public enum Part: Sendable, Equatable {
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
    /// The name of the verdict's entry in the fixtures, if the promise is about a corruption that has an entry of its own.
    package let entry: String?

    init(_ part: Part, _ text: String, entry: String? = nil) {
        self.part = part
        self.text = text
        self.entry = entry
    }

    /// The broken promise, for an adapter whose fixtures are files.
    public var description: String { part == .verdicts ? "verdicts.json \(text)" : text }
}
