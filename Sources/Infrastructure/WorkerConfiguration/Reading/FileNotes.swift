import AdapterKit
import Synchronization

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
