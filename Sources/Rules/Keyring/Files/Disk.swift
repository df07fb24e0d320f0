import Glibc

/// The steps by which files change. A test decides the outcome of each: a crash or a full disk at any of them.
package struct Disk: Sendable {
    /// A system call that changes the disk.
    package enum Step: Sendable, CaseIterable {
        case create, write, sync, place, remove, syncFolder
    }

    /// The outcome of a step.
    package enum Outcome: Sendable, Equatable {
        /// The system decides.
        case real
        /// The process ends before the step.
        case crash
        /// The system refuses the step with this error number.
        case failure(Int32)
    }

    /// The disk as it is.
    package static let real = Disk { _ in .real }

    private let outcome: @Sendable (Step) -> Outcome

    /// A disk whose steps have the outcomes that `outcome` returns.
    package init(_ outcome: @escaping @Sendable (Step) -> Outcome) { self.outcome = outcome }

    /// Makes the system call of `step`.
    ///
    /// - Returns: the call's result; -1 with `errno` where it failed.
    /// - Throws: `KeyRingError` in place of a crash.
    package func run<Result: SignedInteger>(
        _ step: Step, on path: String, _ call: () -> Result
    ) throws(KeyRingError) -> Result {
        switch outcome(step) {
        case .real: return call()
        case .crash: throw KeyRingError(interrupted: path)
        case .failure(let error):
            errno = error
            return -1
        }
    }

    /// Brings the names in `folder` to disk.
    ///
    /// - Returns: whether that succeeded.
    /// - Throws: `KeyRingError` in place of a crash.
    package func sync(folder: String) throws(KeyRingError) -> Bool {
        try run(.syncFolder, on: folder) {
            let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { return -1 }
            defer { close(descriptor) }
            return fsync(descriptor)
        } == 0
    }
}

/// Returns the folder of the file at `path`.
func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
