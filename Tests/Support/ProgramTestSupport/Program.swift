package import Foundation
import Glibc
import Synchronization

/// A child process with everything it wrote, for tests that run real programs.
///
/// Threads of its own read its pipes, which are closed on exec, so that no other child keeps them open.
package final class Program: Sendable {
    private struct State {
        var output = Data()
        var errors = Data()
        var openEnds = 3
        var status: Int32 = -1
        var ends: [CheckedContinuation<Void, Never>] = []
        var watchers: [(isShown: @Sendable (String) -> Bool, waiter: CheckedContinuation<Bool, Never>)] = []
        var isOver: Bool { openEnds == 0 }
    }

    private let state = Mutex(State())
    private let process: pid_t
    /// Its number among the system's processes, for as long as it lives.
    package var processID: pid_t { process }

    /// Starts `executable` (a path, or a name on the PATH).
    package init(
        _ executable: String, _ arguments: [String], input: Data? = nil, directory: URL? = nil,
        environment: [String: String] = [:]
    ) throws {
        let child = try ChildProcess.spawn(executable, arguments, directory: directory, environment: environment)
        process = child.process
        read(child.output) { $0.output += $1 }
        if let errors = child.errors { read(errors) { $0.errors += $1 } }
        Thread.detachNewThread { [self] in
            // Left unburied until it is noted: its number may be another process's after that.
            var end = siginfo_t()
            while waitid(P_PID, id_t(process), &end, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            changed { state in
                var status: Int32 = 0
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
                // Ended by itself, or by a signal, which shells count from 128.
                state.status = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
                state.openEnds -= 1
            }
        }
        Thread.detachNewThread {
            var rest = [UInt8](input ?? Data())[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(child.input, $0.baseAddress, $0.count) }
                if count <= 0 { break }
                rest = rest.dropFirst(count)
            }
            close(child.input)
        }
    }

    package static func run(
        _ executable: String, _ arguments: [String], input: Data? = nil, directory: URL? = nil,
        environment: [String: String] = [:]
    ) async throws -> Program {
        let program = try Program(
            executable, arguments, input: input, directory: directory, environment: environment)
        await program.waitForEnd()
        return program
    }

    package var standardOutput: Data { state.withLock { $0.output } }
    package var outputText: String { String(decoding: standardOutput, as: UTF8.self) }
    package var errorText: String { state.withLock { String(decoding: $0.errors, as: UTF8.self) } }
    /// The exit code once it exited; 128 and the signal where a signal killed it.
    package var status: Int32 { state.withLock { $0.status } }

    package func terminate() { send(SIGTERM) }
    package func kill() { send(SIGKILL) }

    /// Sends a signal, unless the process has exited: its number may be another's then.
    package func send(_ signal: Int32) {
        state.withLock { state in
            if state.status < 0 { _ = Glibc.kill(process, signal) }
        }
    }

    /// Waits for the end of the program and of everything it wrote. A test that runs out of time takes it along.
    package func waitForEnd() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    if !state.isOver { state.ends.append(waiter) }
                    return state.isOver
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            kill()
        }
    }

    /// Waits until the program wrote `text` to standard error.
    ///
    /// - Returns: false where it exited without.
    package func wrote(_ text: String) async -> Bool { await shows { $0.contains(text) } }

    /// Waits until the program logged a line with one of the ids `events`, and with `detail` in it.
    ///
    /// - Returns: false where it exited without.
    package func logged(_ events: String..., with detail: String = "") async -> Bool {
        await shows { text in
            events.contains { event in
                text.logLines(event).contains { detail.isEmpty || $0.contains(detail) }
            }
        }
    }

    /// The lines that the program has logged with the id `event`.
    package func logLines(_ event: String) -> [Substring] { errorText.logLines(event) }

    /// The number of lines that the program has logged with the id `event`.
    package func logCount(_ event: String) -> Int { logLines(event).count }

    /// Returns whether the program has logged a line with the id `event`.
    package func hasLogged(_ event: String) -> Bool { !logLines(event).isEmpty }

    /// Waits until standard error is as wanted. Returns false if the program exits before.
    private func shows(_ isShown: @escaping @Sendable (String) -> Bool) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                changed { $0.watchers.append((isShown, waiter)) }
            }
        } onCancel: {
            kill()
        }
    }

    // MARK: Reading

    private func read(_ end: Int32, _ append: @escaping @Sendable (inout State, Data) -> Void) {
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = Glibc.read(end, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                let data = Data(buffer[..<count])
                changed { append(&$0, data) }
            }
            close(end)
            changed { $0.openEnds -= 1 }
        }
    }

    /// Changes the state and answers whoever waited for that.
    private func changed(_ change: (inout State) -> Void) {
        let (ends, watchers) = state.withLock { state in
            change(&state)
            // A long text is looked through only where somebody waits for a word of it.
            let text = state.watchers.isEmpty ? "" : String(decoding: state.errors, as: UTF8.self)
            let isOver = state.isOver
            let watchers = state.watchers.map { ($0.waiter, $0.isShown(text)) }.filter { $1 || isOver }
            state.watchers.removeAll { $0.isShown(text) || isOver }
            defer { if isOver { state.ends = [] } }
            return (isOver ? state.ends : [], watchers)
        }
        for end in ends { end.resume() }
        for (waiter, found) in watchers { waiter.resume(returning: found) }
    }
}
