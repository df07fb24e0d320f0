/// The reason that an endpoint cannot be asked.
public struct EndpointError: Error, Sendable, CustomStringConvertible {
    /// One line: the account or the file, what is wrong and what would be right. Never a credential.
    public let description: String

    /// An error with this line.
    package init(_ description: String) { self.description = description }
}
