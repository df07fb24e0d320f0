/// The reason why a worker cannot run.
public struct WorkerError: Error, Sendable, CustomStringConvertible {
    /// The problem and its fix, in one line.
    public let description: String

    package init(_ description: String) { self.description = description }
}
