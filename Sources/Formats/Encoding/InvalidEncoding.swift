/// Text that is not what its encoding allows, base64 or base64url. The message holds nothing of the text.
public struct InvalidEncoding: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String

    /// - Parameter description: the mistake, in a line.
    public init(_ description: String) { self.description = description }
}
