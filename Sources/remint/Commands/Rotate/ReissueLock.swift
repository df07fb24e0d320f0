import Foundation
import Keyring

/// Two may not re-issue for one campaign at once.
struct ReissueLock {
    private let descriptor: Int32

    /// - Throws: `RotationError` where another process holds it.
    init(_ directory: KeyRingDirectory) throws {
        descriptor = open("\(directory.path)/reissue.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            if descriptor >= 0 { Foundation.close(descriptor) }
            throw RotationError("another operator is re-issuing for this campaign; watch it with: remint rotate status")
        }
    }

    /// Unlocked by name: a child process that is being started holds copies of all descriptors until it runs.
    func release() {
        flock(descriptor, LOCK_UN)
        Foundation.close(descriptor)
    }
}
