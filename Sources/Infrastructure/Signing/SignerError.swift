/// The reason that a signer cannot run.
public struct SignerError: Error, Sendable, CustomStringConvertible {
    /// The problem and its fix, in one line.
    public let description: String

    init(_ description: String) { self.description = description }
}
