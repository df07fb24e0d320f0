import Glibc
import JOSE

extension AuditLog {
    /// The longest part of a log that is read, from its end; longer than any ring's log.
    private static let longestReading = 64 << 20

    /// The reason not to believe the log, with its remedy: other accounts could have written it. nil where there is none, or no log.
    package var exposure: String? { GuardedFile.exposure(of: path, .instructions) }

    /// Returns the versions that were retired or revoked according to the log, each with its state; empty where the log
    /// cannot be read.
    func endedVersions() -> [String: KeyVersion.State] {
        var ended: [String: KeyVersion.State] = [:]
        for line in text().split(separator: UInt8(ascii: "\n")) {
            guard let root = try? JSONDocument(parsing: Array(line)).root, let action = root["action"]?.string,
                let version = root["version"]?.string, root["stage"]?.string ?? "done" == Stage.done.rawValue
            else { continue }
            switch action {
            case "retire": if ended[version] != .revoked { ended[version] = .retired }
            case "revoke": ended[version] = .revoked
            // The line of the campaign's file names the successor, the line of the ring's change the compromised version.
            case "rotate revoke" where root["detail"]?.string?.contains(": from ") != true: ended[version] = .revoked
            // An id that was taken out of the listing by hand and is another key's now.
            case "add", "create", "generate", "import": ended[version] = nil
            default: break
            }
        }
        return ended
    }

    /// Returns the versions that a command removed, or was about to remove; empty where the log cannot be read.
    func removedVersions() -> Set<String> {
        var removed: Set<String> = []
        for line in text().split(separator: UInt8(ascii: "\n")) {
            guard let root = try? JSONDocument(parsing: Array(line)).root, root["action"]?.string == "remove",
                let version = root["version"]?.string
            else { continue }
            removed.insert(version)
        }
        return removed
    }

    private func text() -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            GuardedFile.exposure(of: path, descriptor: descriptor) == nil
        else { return [] }
        let length = min(status.st_size, Self.longestReading)
        var text = [UInt8](repeating: 0, count: length)
        var count = 0
        while count < length {
            let read = text.withUnsafeMutableBytes { buffer in
                pread(
                    descriptor, buffer.baseAddress.map { $0 + count }, length - count, status.st_size - length + count)
            }
            guard read > 0 else { break }
            count += read
        }
        return Array(text.prefix(count))
    }
}
