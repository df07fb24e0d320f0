package import Pipeline

/// A dead letter of a dry run, and its end.
package struct PlannedLetter: Sendable {
    /// The letter, without its payload.
    package let entry: DeadLetterEntry
    /// The topic that would be written to, or why none would.
    package let target: Target

    /// A topic, or why a letter stays.
    package typealias Target = Result<String, RedriveRefused>
}

/// The function that a dry run calls with each letter its filter means.
package typealias PlannedLetterDisplay = @Sendable (PlannedLetter) -> Void
