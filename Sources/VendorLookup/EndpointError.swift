/// Why an endpoint cannot be asked.
public struct EndpointError: Error, Sendable, CustomStringConvertible {
    /// One line: which account, what is wrong and what would be right. Never a credential.
    public let description: String

    init(_ description: String) { self.description = description }
}
