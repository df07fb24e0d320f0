/// Why a signer cannot run.
public struct SignerError: Error, Sendable, CustomStringConvertible {
    /// One line: what is wrong and what would be right.
    public let description: String

    init(_ description: String) { self.description = description }
}
