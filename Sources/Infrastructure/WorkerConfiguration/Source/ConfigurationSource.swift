package import AdapterKit
import Synchronization
import YAMLReading
import Yams

/// The source of a configuration's texts: files and the environment, behind closures so that tests need neither.
public struct ConfigurationSource: Sendable {
    /// The result of reading a file.
    public enum Reading<Contents: Sendable>: Sendable {
        case contents(Contents)
        /// The file must not be used. The reason names the fix and nothing of the file's contents.
        case refused(String)
    }

    /// An environment variable; nil where it is not defined.
    package var environment: @Sendable (String) -> String?
    package var file: @Sendable (String) -> Reading<String>
    /// The file of a secret, which nobody else may be able to read.
    package var secret: @Sendable (String) -> Reading<SecretBytes>

    /// A source with these ways to read. Without a way of their own, secrets are read as other files are.
    package init(
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
    package static func reading(_ text: String?) -> Reading<String> {
        text.map { .contents($0) } ?? .refused("cannot be read; fix the path or create the file")
    }

    /// The largest file that is read, in bytes: a configuration of some ten thousand apps.
    static let largestFile = 16 << 20

    /// The way to read files on which trust rests: one that other accounts could change is refused.
    package static let guardedFile: @Sendable (String) -> Reading<String> = { path in
        do throws(GuardedFileError) {
            let text = String(validating: try GuardedFile.instructions(path, limit: largestFile), as: UTF8.self)
            return text.map { .contents($0) } ?? .refused("is not UTF-8 text")
        } catch { return .refused(error.message) }
    }

    /// The way to read secrets that looks at their files' modes and owners, as is done with keys.
    package static let guardedSecret: @Sendable (String) -> Reading<SecretBytes> = { path in
        do throws(GuardedFileError) { return .contents(try GuardedFile.read(path)) } catch {
            return .refused(error.message)
        }
    }
}

extension Section {
    /// Returns the text of a secret's file, without the end of its last line.
    ///
    /// - Parameters:
    ///   - path: The path, as the configuration names it.
    ///   - node: The place in the configuration that names it.
    ///   - name: The name of the key in messages.
    func secret(ofFile path: String, _ node: Node, named name: String, _ source: ConfigurationSource) -> String? {
        switch source.secret(diagnostics.resolve(path)) {
        case .contents(let secret):
            if let text = secret.withBytes({ String(validating: $0, as: UTF8.self) }) {
                return Self.withoutLineEnd(text)
            }
            diagnostics.error(node, "the file of \(name) is not UTF-8 text")
        case .refused(let reason): diagnostics.error(node, "the file of \(name) \(reason)")
        }
        return nil
    }

    /// Returns the text of a file that holds no secret, without the end of its last line; see `secret`.
    func contents(ofFile path: String, _ node: Node, named name: String, _ source: ConfigurationSource) -> String? {
        text(ofFile: path, node, named: name, source).map(Self.withoutLineEnd)
    }

    /// Returns the text of a file on which trust rests; nil after reporting why it must not be used.
    func text(ofFile path: String, _ node: Node?, named name: String, _ source: ConfigurationSource) -> String? {
        switch source.file(diagnostics.resolve(path)) {
        case .contents(let text): return text
        case .refused(let reason):
            diagnostics.error(node, "the file of \(name) \(reason)")
            return nil
        }
    }

    private static func withoutLineEnd(_ text: String) -> String {
        text.last?.isNewline == true ? String(text.dropLast()) : text
    }
}

/// The record of the files that were read, with their contents, so that a changed file is noticed.
final class FileNotes: Sendable {
    private struct State: Sendable {
        var files: [String: FileRevision?] = [:]
        var hasher = Hasher()
    }

    private let state = Mutex(State())

    /// The files that were read, as they were just before.
    var files: [String: FileRevision?] { state.withLock { $0.files } }

    /// Returns the fingerprint of `text` together with all files that were read.
    func fingerprint(with text: String) -> Fingerprint {
        var hasher = state.withLock { $0.hasher }
        hasher.combine(text)
        return Fingerprint(hasher)
    }

    func add(_ others: [String: FileRevision?]) { state.withLock { $0.files.merge(others) { first, _ in first } } }

    func look(at path: String) {
        let revision = FileRevision(of: path)
        // Of a file that changes while it is read several times, the change is not to be missed.
        state.withLock { if $0.files.index(forKey: path) == nil { $0.files[path] = .some(revision) } }
    }

    func read(_ bytes: some Sequence<UInt8>) {
        state.withLock { state in
            for byte in bytes { state.hasher.combine(byte) }
            state.hasher.combine(-1)
        }
    }
}

extension ConfigurationSource {
    /// Returns the same source, which records every read in `notes`.
    func noted(in notes: FileNotes) -> ConfigurationSource {
        var noted = self
        noted.file = { [file] path in
            notes.look(at: path)
            let found = file(path)
            if case .contents(let text) = found { notes.read(text.utf8) }
            return found
        }
        noted.secret = { [secret] path in
            notes.look(at: path)
            let found = secret(path)
            if case .contents(let bytes) = found { bytes.withBytes { notes.read($0) } }
            return found
        }
        return noted
    }
}

/// A fingerprint of values that were read; it differs where any of them does. It has no meaning outside this process,
/// and reveals nothing about the values.
public struct Fingerprint: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    private let value: Int

    package init() { value = 0 }

    init(_ hasher: Hasher) { value = hasher.finalize() }

    package init(of value: some Hashable) { self.value = value.hashValue }

    /// A stand-in: the fingerprint may be of a secret.
    public var description: String { "fingerprint" }
    /// Nothing: a dump or a mirror shows no member.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The file of the configuration: the one that a command line names, or the first of the standard places.
package struct ConfigurationPlace: Sendable, Equatable {
    /// The environment variable that names the file.
    package static let variable = "REMINT_CONFIG"
    package static let installed = "/etc/remint/remint.yaml"

    /// The error that names every place without a configuration.
    package struct Missing: Error, Equatable, CustomStringConvertible {
        package let description =
            "no configuration: --config is missing, \(ConfigurationPlace.variable) is not set, and \(ConfigurationPlace.installed) does not exist; name the file with --config, or make one: remint init"
    }

    package let path: String

    /// The place of the file `named`, if there is one; otherwise of the file in the environment, or of the installed one.
    ///
    /// A file that somebody names need not exist: its reader reports that with the name.
    ///
    /// - Parameters:
    ///   - environment: Returns an environment variable; nil for one that is not set.
    ///   - exists: Returns whether a file exists.
    /// - Throws: `Missing` where nobody names a file and none is installed.
    package init(
        named: String?, environment: (String) -> String?, exists: (String) -> Bool
    ) throws(Missing) {
        let variable = environment(Self.variable).flatMap { $0.isEmpty ? nil : $0 }
        if let path = named ?? variable {
            self.path = path
        } else if exists(Self.installed) {
            path = Self.installed
        } else {
            throw Missing()
        }
    }
}
