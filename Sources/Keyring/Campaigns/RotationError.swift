/// Why a campaign cannot take a step, and what to do instead.
package struct RotationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Why.
    package let description: String

    /// A refusal because of `description`.
    package init(_ description: String) { self.description = description }
}
