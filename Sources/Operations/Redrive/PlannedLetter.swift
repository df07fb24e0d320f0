package import Pipeline

/// A dead letter of a dry run, and its end.
package struct PlannedLetter: Sendable {
    /// What the letter says of itself.
    package let entry: DeadLetterEntry
    /// The topic that would be written to, or why none would.
    package let target: Target

    /// A topic, or why a letter stays.
    package typealias Target = Result<String, RedriveRefused>
}

/// Is called with each letter that a dry run's filter means.
package typealias PlannedLetterDisplay = @Sendable (PlannedLetter) -> Void
