import AdapterKit
import Glibc
import YAMLReading

/// The folders of the key rings. Each token's record names its ring. Two names of one folder would hide from each other
/// which tokens its keys signed, so a folder is one ring.
enum RingFolders {
    /// Refuses a ring whose folder another one has, under whatever path.
    static func refuseSharedOnes(_ keys: [Configuration.Key], _ diagnostics: Diagnostics) {
        var seen: [(key: Configuration.Key, place: Place)] = []
        for key in keys {
            guard let path = key.path else { continue }
            let place = Place(of: path)
            if let other = seen.first(where: { $0.place.isSame(as: place) })?.key {
                diagnostics.error(
                    at: key.place,
                    "keys.\(key.name) has the folder of keys.\(other.name): a ring has one name, which its tokens' records repeat; remove keys.\(key.name) and write key: \(other.name) in its apps, or give it a folder of its own"
                )
            } else {
                seen.append((key, place))
            }
        }
    }

    /// The identity of a folder.
    private struct Place {
        /// The path without links, dots and repeated slashes, as far as the folders are there.
        private let path: String
        /// The device and the inode; nil where there is no folder yet.
        private let file: (device: UInt64, inode: UInt64)?

        init(of path: String) {
            var status = stat()
            file = stat(path, &status) == 0 ? (UInt64(status.st_dev), UInt64(status.st_ino)) : nil
            self.path = Self.resolved(path)
        }

        func isSame(as other: Place) -> Bool {
            if path.hasSameBytes(as: other.path) { return true }
            guard let file, let its = other.file else { return false }
            return file == its
        }

        /// Returns `path` with its existing part resolved, and the rest as it is written.
        private static func resolved(_ path: String) -> String {
            var rest: [Substring] = []
            var head = path.split(separator: "/", omittingEmptySubsequences: true)
            let root = path.hasPrefix("/") ? "/" : "./"
            while true {
                if let found = realpath(root + head.joined(separator: "/"), nil) {
                    defer { free(found) }
                    var parts = String(cString: found).split(separator: "/", omittingEmptySubsequences: true)
                    for part in rest.reversed() where part != "." {
                        if part == ".." { _ = parts.popLast() } else { parts.append(part) }
                    }
                    return "/" + parts.joined(separator: "/")
                }
                guard let last = head.popLast() else { return path }
                rest.append(last)
            }
        }
    }
}
