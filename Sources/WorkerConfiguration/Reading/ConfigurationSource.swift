/// Where a configuration's texts come from: files and the environment, behind closures so that tests need neither.
public struct ConfigurationSource: Sendable {
    /// An environment variable; nil where it is not defined.
    public var environment: @Sendable (String) -> String?
    /// A file's text; nil where it cannot be read.
    public var file: @Sendable (String) -> String?

    /// A source with these ways to read.
    public init(
        environment: @escaping @Sendable (String) -> String?, file: @escaping @Sendable (String) -> String?
    ) {
        self.environment = environment
        self.file = file
    }
}
