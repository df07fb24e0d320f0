import Glibc
public import JOSE

/// The files of a ring: keys, passphrases, listings.
public enum KeyFile {
    /// Reads the file `path`, which holds a secret.
    ///
    /// - Throws: `KeyRingError` when the file is missing, is not a file, is too large, or is not for its owner alone.
    public static func read(_ path: String) throws(KeyRingError) -> SecretBytes { try read(path, .secret) }

    /// Reads a file that holds no secret, but decides which key signs: other accounts may read it and not change it.
    package static func readListing(_ path: String) throws(KeyRingError) -> [UInt8] {
        do throws(GuardedFileError) { return try GuardedFile.instructions(path) } catch {
            throw KeyRingError(error.path, error.message)
        }
    }

    /// Reads the file `path`, which other accounts may use as `content` allows.
    ///
    /// - Throws: `KeyRingError`.
    static func read(_ path: String, _ content: GuardedFile.Content) throws(KeyRingError) -> SecretBytes {
        do throws(GuardedFileError) { return try GuardedFile.read(path, content) } catch {
            throw KeyRingError(error.path, error.message)
        }
    }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Writes `contents` to `path` with mode 600, whole or not at all.
    ///
    /// - Throws: `KeyRingError`.
    package static func write(
        _ contents: SecretBytes, to path: String, _ placement: DurableWrite.Placement = .replacing
    ) throws(KeyRingError) {
        try DurableWrite(path: path, mode: 0o600, placement).write(contents)
    }
}
