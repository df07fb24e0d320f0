import AdapterKit
import Glibc
import JOSE
import Keyring

/// What a worker process is called among those of its group: no other live one has the name, and the next process in this
/// place gets it again, so that it ends at once what its predecessor left open.
///
/// A lock on a small file gives it: whoever holds the lock has the name of the file's inode on this running system. The
/// kernel lets go of the lock when the process ends, however it ends.
final class InstanceName: Sendable {
    /// The name.
    let text: String
    /// Held as long as the name is.
    private let lock: FileLock?

    /// The first free name of `group` on this machine; a random one where no file can be locked.
    ///
    /// - Parameter folder: where the files are.
    init(
        group: String, folder: String = InstanceName.folder(stateDirectory: InstanceName.environment("STATE_DIRECTORY"))
    ) {
        let host = Self.host
        let label = SHA256.hash(Array(group.utf8)).prefix(6).map(Self.hex).joined()
        for slot in 0..<256 {
            guard let lock = try? FileLock("\(folder)/remint-\(label)-\(slot).lock"), let file = lock.identity else {
                continue
            }
            // The boot's id and the file's: two machines, or two processes that see different folders under one name,
            // never agree on both.
            let place = Self.bootID + Array("/\(file.device)/\(file.inode)".utf8)
            text = "\(group)-\(host)-\(SHA256.hash(place).prefix(6).map(Self.hex).joined())"
            self.lock = consume lock
            return
        }
        var random = SystemRandomNumberGenerator()
        text = "\(group)-\(host)-\(String(random.next() as UInt64, radix: 16))"
        lock = nil
    }

    /// Where the files are: the first folder that the service manager keeps for the service, which outlives its starts as a
    /// private `/tmp` does not; `/tmp` where there is none.
    ///
    /// - Parameter stateDirectory: folders separated by colons (systemd.exec(5), `StateDirectory=`).
    static func folder(stateDirectory: String?) -> String {
        let first = stateDirectory?.split(separator: ":").first.map(String.init)
        return first.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "host" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static var bootID: [UInt8] {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}
