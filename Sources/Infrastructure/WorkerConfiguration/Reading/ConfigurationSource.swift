public import AdapterKit

/// The source of a configuration's texts: files and the environment, behind closures so that tests need neither.
public struct ConfigurationSource: Sendable {
    /// The result of reading the file of a secret.
    public enum Secret: Sendable {
        /// The file's contents.
        case contents(SecretBytes)
        /// The file must not be used. The reason names the fix and nothing of the file's contents.
        case refused(String)
    }

    /// An environment variable; nil where it is not defined.
    public var environment: @Sendable (String) -> String?
    /// A file's text; nil where it cannot be read.
    public var file: @Sendable (String) -> String?
    /// The file of a secret, which nobody else may be able to read.
    public var secret: @Sendable (String) -> Secret

    /// A source with these ways to read. Without a way of their own, secrets are read as other files are.
    public init(
        environment: @escaping @Sendable (String) -> String?, file: @escaping @Sendable (String) -> String?,
        secret: (@Sendable (String) -> Secret)? = nil
    ) {
        self.environment = environment
        self.file = file
        self.secret =
            secret ?? { path in
                file(path).map { .contents(SecretBytes(copying: $0.utf8)) } ?? .refused("cannot be read")
            }
    }

    /// The way to read secrets that looks at their files' modes and owners, as is done with keys.
    public static let guardedSecret: @Sendable (String) -> Secret = { path in
        do throws(GuardedFileError) { return .contents(try GuardedFile.read(path)) } catch {
            return .refused(error.message)
        }
    }
}
