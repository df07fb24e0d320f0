import Foundation
import Synchronization
import Testing

/// A child process with everything it wrote, for tests that run real programs.
final class Program: Sendable {
    private let process: Process
    private let output = Mutex(Data())
    private let errors = Mutex(Data())
    private let watchers = Mutex<[(text: String, waiter: CheckedContinuation<Bool, Never>)]>([])
    private let exit = Mutex<(isOver: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

    /// Starts `executable` (a path, or a name on the PATH).
    init(
        _ executable: String, _ arguments: [String], input: Data? = nil, directory: URL? = nil,
        environment: [String: String] = [:]
    ) throws {
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [executable] + arguments
        process.currentDirectoryURL = directory
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let out = Pipe(), err = Pipe(), stdin = Pipe()
        process.standardOutput = out
        process.standardError = err
        process.standardInput = stdin
        let closed = DispatchGroup()
        for (pipe, isError) in [(out, false), (err, true)] {
            closed.enter()
            pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
                let data = handle.availableData
                if data.isEmpty {
                    handle.readabilityHandler = nil
                    closed.leave()
                } else {
                    self?.received(data, isError: isError)
                }
            }
        }
        let process = process
        closed.notify(queue: .global()) { [weak self] in
            process.waitUntilExit()
            self?.ended()
        }
        try process.run()
        DispatchQueue.global().async {
            if let input { try? stdin.fileHandleForWriting.write(contentsOf: input) }
            try? stdin.fileHandleForWriting.close()
        }
    }

    /// Runs a program to its end.
    static func run(
        _ executable: String, _ arguments: [String], input: Data? = nil, directory: URL? = nil,
        environment: [String: String] = [:]
    ) async throws -> Program {
        let program = try Program(
            executable, arguments, input: input, directory: directory, environment: environment)
        await program.waitForEnd()
        return program
    }

    var standardOutput: Data { output.withLock { $0 } }
    var outputText: String { String(decoding: standardOutput, as: UTF8.self) }
    var errorText: String { String(decoding: errors.withLock { $0 }, as: UTF8.self) }
    var status: Int32 { process.terminationStatus }

    func terminate() { process.terminate() }
    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    func waitForEnd() async {
        await withCheckedContinuation { waiter in
            let isOver = exit.withLock { state in
                if !state.isOver { state.waiters.append(waiter) }
                return state.isOver
            }
            if isOver { waiter.resume() }
        }
    }

    /// Waits until the program wrote `text` to standard error.
    ///
    /// - Returns: false where it ended without.
    func wrote(_ text: String) async -> Bool {
        await withCheckedContinuation { waiter in
            watchers.withLock { $0.append((text, waiter)) }
            answerWatchers()
        }
    }

    private func received(_ data: Data, isError: Bool) {
        if isError { errors.withLock { $0 += data } } else { output.withLock { $0 += data } }
        if isError { answerWatchers() }
    }

    private func ended() {
        let waiters = exit.withLock { state in
            defer { state = (true, []) }
            return state.waiters
        }
        answerWatchers()
        for waiter in waiters { waiter.resume() }
    }

    private func answerWatchers() {
        let text = errorText
        let isOver = exit.withLock { $0.isOver }
        let answered = watchers.withLock { watchers in
            let answered = watchers.filter { isOver || text.contains($0.text) }
            watchers.removeAll { isOver || text.contains($0.text) }
            return answered
        }
        for (wanted, waiter) in answered { waiter.resume(returning: text.contains(wanted)) }
    }
}
