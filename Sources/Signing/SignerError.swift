/// The reason that a signer cannot run.
public struct SignerError: Error, Sendable, CustomStringConvertible {
    /// One line: the mistake and its correction.
    public let description: String

    init(_ description: String) { self.description = description }
}
