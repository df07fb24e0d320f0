/// The reason that an endpoint cannot be asked.
public struct EndpointError: Error, Sendable, CustomStringConvertible {
    /// The account or the file, the problem and the fix, in one line. Never a credential.
    public let description: String

    /// An error with this line.
    package init(_ description: String) { self.description = description }
}
