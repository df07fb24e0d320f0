package import Pipeline

/// A dead letter of a dry run, and the outcome it would have.
package struct PlannedLetter: Sendable {
    /// The letter, without its payload.
    package let entry: DeadLetterEntry
    /// The topic to write to, or the reason why the letter stays.
    package let target: Target

    /// A topic, or the reason why a letter stays.
    package typealias Target = Result<String, RedriveRefused>
}

/// The function that a dry run calls with each letter that its filter matches.
package typealias PlannedLetterDisplay = @Sendable (PlannedLetter) -> Void
