import Foundation
import Glibc

/// A child process just after its start, with this side's ends of its pipes.
///
/// Spawned by hand: its pipes are closed on exec, so that no other child keeps them open.
struct ChildProcess {
    let process: pid_t
    let input: Int32
    let output: Int32
    /// Nil where its standard error is the one of this process.
    let errors: Int32?

    /// Starts `executable` (a path, or a name on the PATH).
    ///
    /// - Parameter keepsErrors: leaves it the standard error of this process.
    static func spawn(
        _ executable: String, _ arguments: [String], directory: URL? = nil, environment: [String: String] = [:],
        keepsErrors: Bool = false
    ) throws -> ChildProcess {
        // The thread this runs on may have blocked signals, which a child would inherit and never see.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // One at a time: between the making of a pipe and its closing on exec no other child may be born.
        births.lock()
        defer { births.unlock() }
        let stdin = try Pipe(), output = try Pipe()
        let errors = try keepsErrors ? nil : Pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, stdin.readEnd, 0)
        posix_spawn_file_actions_adddup2(&actions, output.writeEnd, 1)
        if let errors { posix_spawn_file_actions_adddup2(&actions, errors.writeEnd, 2) }
        // Nothing else of this process: a broker's sockets held open by a stranger never look closed to their clients.
        for descriptor in Int32(3)..<2048 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        let merged = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let inPlace = directory.map { ["env", "-C", $0.path] } ?? []
        let argv = (inPlace + [executable] + arguments).map { strdup($0) } + [nil]
        let envp = merged.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        // The name is looked up on the child's PATH, as a shell would.
        let path = find(inPlace.first ?? executable, merged["PATH"] ?? "")
        var child: pid_t = 0
        let error = posix_spawn(&child, path, &actions, &attributes, argv, envp)
        for end in [stdin.readEnd, output.writeEnd, errors?.writeEnd].compactMap(\.self) { close(end) }
        guard error == 0 else {
            for end in [stdin.writeEnd, output.readEnd, errors?.readEnd].compactMap(\.self) { close(end) }
            throw POSIXError(POSIXErrorCode(rawValue: error) ?? .ENOENT)
        }
        // A program that does not read its input closes it; that must not end the tests.
        signal(SIGPIPE, SIG_IGN)
        return ChildProcess(
            process: child, input: stdin.writeEnd, output: output.readEnd, errors: errors?.readEnd)
    }

    private static func find(_ executable: String, _ path: String) -> String {
        guard !executable.contains("/") else { return executable }
        let candidates = path.split(separator: ":").map { "\($0)/\(executable)" }
        return candidates.first { access($0, X_OK) == 0 } ?? executable
    }

    private static let births = NSLock()

    private struct Pipe {
        let readEnd: Int32
        let writeEnd: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (readEnd, writeEnd) = (ends[0], ends[1])
        }
    }
}
