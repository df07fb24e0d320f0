/// The reason why the gateway cannot run.
public struct PickupError: Error, Sendable, CustomStringConvertible {
    /// The problem and its fix, in one line.
    public let description: String

    init(_ description: String) { self.description = description }
}
