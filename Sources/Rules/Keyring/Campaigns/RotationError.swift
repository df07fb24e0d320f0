/// The reason why a campaign cannot take a step, and the fix.
package struct RotationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason and the fix.
    package let description: String

    /// A refusal because of `description`.
    package init(_ description: String) { self.description = description }
}
