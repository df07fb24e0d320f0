/// The version and the build of the program that a worker runs in.
public struct ProgramBuild: Sendable, Equatable {
    /// The version; empty if it is unknown.
    public var version: String
    /// The kind of build, and the versions of the libraries in it.
    public var description: String

    /// A build with this version and description.
    public init(version: String = "", description: String = "") {
        self.version = version
        self.description = description
    }
}
