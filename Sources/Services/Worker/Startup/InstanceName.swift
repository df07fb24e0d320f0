import AdapterKit
import Glibc
import JOSE
import Keyring

/// The name of a worker process in its group, which no other live process has. The next process in this place gets it
/// again and immediately aborts its predecessor's open transactions.
///
/// A lock on a small file grants the name, which is that of the file's inode on this running system. The kernel
/// releases the lock when the process ends, however it ends.
final class InstanceName: Sendable {
    let text: String
    /// Whether the next process in this place gets the name again.
    var isStable: Bool { lock != nil }
    private let lock: FileLock?

    /// The most processes of a group on one machine that have a lasting name: more than cores that would serve them.
    private static let processes = 256

    /// The first free name of `group` on this machine; a random one where no file can be locked.
    ///
    /// - Parameter folder: The folder of the files.
    init(
        group: String, folder: String = InstanceName.folder(stateDirectory: InstanceName.environment("STATE_DIRECTORY"))
    ) {
        let host = Self.host
        let label = SHA256.hash(Array(group.utf8)).prefix(6).map(Self.hex).joined()
        for slot in 0..<Self.processes {
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

    /// Returns the folder of the files: the first folder that the service manager keeps for the service, or `/tmp` if
    /// there is none. The service manager's folder survives restarts, unlike a private `/tmp`.
    ///
    /// - Parameter stateDirectory: Folders separated by colons (systemd.exec(5), `StateDirectory=`).
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
