import Glibc

/// The name of an unfinished file, `.remint-<name>.<random>.new`, and the removal of those whose writer is dead.
///
/// A writer holds a lock (`flock`) on its scratch file until the file has its own name. The kernel releases the lock when the
/// process ends. Process ids play no part: in a container every process may be number 1.
package enum ScratchFile {
    private static let prefix = ".remint-"
    private static let suffix = ".new"
    private static let randomDigits = 16
    /// A file's name has at most 255 bytes.
    private static let longestName = 200

    /// Returns a name that no other file has, for the file `name`.
    static func randomName(for name: String) -> String {
        var generator = SystemRandomNumberGenerator()
        let number = String(generator.next() as UInt64, radix: 16)
        let padding = String(repeating: "0", count: randomDigits - number.count)
        return start(of: name) + padding + number + suffix
    }

    /// Returns whether `name` has the form of `randomName`.
    static func isName(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
        let inner = name.dropFirst(prefix.count).dropLast(suffix.count)
        let random = inner.suffix(randomDigits)
        return random.count == randomDigits && random.allSatisfy { $0.isASCII && $0.isHexDigit && !$0.isUppercase }
            && inner.dropLast(randomDigits).last == "." && inner.count > randomDigits + 1
    }

    /// Removes the scratch files in `folder` whose writer is dead.
    ///
    /// - Parameter target: the name of the file they were to become; nil for any.
    /// - Throws: `KeyRingError` in place of a crash.
    static func removeAbandoned(in folder: String, of target: String? = nil, _ disk: Disk) throws(KeyRingError) {
        let start = target.map(start)
        for name in names(in: folder) where isName(name) && start.map(name.hasPrefix) ?? true {
            try removeIfAbandoned("\(folder)/\(name)", disk)
        }
    }

    /// Returns the names in `folder`; empty where it cannot be read.
    package static func names(in folder: String) -> Set<String> {
        guard let open = opendir(folder) else { return [] }
        defer { closedir(open) }
        var names: Set<String> = []
        while let entry = readdir(open) {
            names.insert(
                withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    private static func start(of name: String) -> String {
        "\(prefix)\(String(decoding: name.utf8.prefix(longestName), as: UTF8.self))."
    }

    private static func removeIfAbandoned(_ path: String, _ disk: Disk) throws(KeyRingError) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard isOwnFile(descriptor), flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return }
        _ = try disk.run(.remove, on: path) { unlink(path) }
    }
}
