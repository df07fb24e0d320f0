/// The reason why a worker cannot run.
public struct WorkerError: Error, Sendable, CustomStringConvertible {
    /// One line: what is wrong and what would be right.
    public let description: String

    package init(_ description: String) { self.description = description }
}
