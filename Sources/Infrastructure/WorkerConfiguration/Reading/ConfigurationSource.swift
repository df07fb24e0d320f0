public import AdapterKit

/// The source of a configuration's texts: files and the environment, behind closures so that tests need neither.
public struct ConfigurationSource: Sendable {
    /// The result of reading a file.
    public enum Reading<Contents: Sendable>: Sendable {
        /// The file's contents.
        case contents(Contents)
        /// The file must not be used. The reason names the fix and nothing of the file's contents.
        case refused(String)
    }

    /// An environment variable; nil where it is not defined.
    public var environment: @Sendable (String) -> String?
    /// A file's text.
    public var file: @Sendable (String) -> Reading<String>
    /// The file of a secret, which nobody else may be able to read.
    public var secret: @Sendable (String) -> Reading<SecretBytes>

    /// A source with these ways to read. Without a way of their own, secrets are read as other files are.
    public init(
        environment: @escaping @Sendable (String) -> String?, file: @escaping @Sendable (String) -> String?,
        secret: (@Sendable (String) -> Reading<SecretBytes>)? = nil
    ) {
        self.environment = environment
        self.file = { Self.reading(file($0)) }
        self.secret =
            secret ?? { path in
                file(path).map { .contents(SecretBytes(copying: $0.utf8)) } ?? .refused("cannot be read")
            }
    }

    /// Returns the reading with `text`, and a refusal where there is none.
    public static func reading(_ text: String?) -> Reading<String> {
        text.map { .contents($0) } ?? .refused("cannot be read; fix the path or create the file")
    }

    /// The largest file that is read, in bytes: a configuration of some ten thousand apps.
    static let largestFile = 16 << 20

    /// The way to read files on which trust rests: one that other accounts could change is refused.
    public static let guardedFile: @Sendable (String) -> Reading<String> = { path in
        do throws(GuardedFileError) {
            let text = String(validating: try GuardedFile.instructions(path, limit: largestFile), as: UTF8.self)
            return text.map { .contents($0) } ?? .refused("is not UTF-8 text")
        } catch { return .refused(error.message) }
    }

    /// The way to read secrets that looks at their files' modes and owners, as is done with keys.
    public static let guardedSecret: @Sendable (String) -> Reading<SecretBytes> = { path in
        do throws(GuardedFileError) { return .contents(try GuardedFile.read(path)) } catch {
            return .refused(error.message)
        }
    }
}
