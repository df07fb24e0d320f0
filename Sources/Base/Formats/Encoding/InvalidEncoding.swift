/// Text that violates its encoding, base64 or base64url. The message contains no part of the text.
public struct InvalidEncoding: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error in words, without the text that is not valid.
    public let description: String

    /// - Parameter description: the mistake, in a line.
    public init(_ description: String) { self.description = description }
}
