import Glibc
import ProgramTestSupport
import Synchronization
import Testing

/// A place for one worker: when the program in it ends, another is started, as a supervisor would.
final class Worker: Sendable {
    private struct State {
        var program: Program
        /// With what code the program may end; 75, "try again later", is always good.
        var expected: Set<Int32> = []
        var isRetired = false
        var comebacks = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let shop: Shop
    private let state: Mutex<State>

    init(in shop: Shop) throws {
        self.shop = shop
        state = Mutex(State(program: try shop.startProgram()))
    }

    var program: Program { state.withLock { $0.program } }
    /// The number of times that the worker exited with "try again later".
    var comebacks: Int { state.withLock { $0.comebacks } }

    /// Starts a program again whenever one ends, until the worker retires or the task is canceled.
    func run() async {
        defer { wake() }
        while !Task.isCancelled {
            let ended = program
            await ended.waitForEnd()
            let code = ended.status
            let (isRetired, isExpected) = state.withLock { state in
                if code == 75 { state.comebacks += 1 }
                return (state.isRetired, code == 75 || state.expected.contains(code))
            }
            guard !Task.isCancelled else { return }
            if !isExpected { Issue.record("a worker exited with \(code):\n\(ended.lastLines)") }
            guard !isRetired else { return }
            do {
                let next = try shop.startProgram()
                state.withLock { state in
                    state.program = next
                    state.expected = []
                    // It may have been asked to retire meanwhile.
                    if state.isRetired { next.terminate() }
                    if state.isRetired { state.expected = [0] }
                }
                wake()
            } catch {
                Issue.record(error)
                return
            }
        }
    }

    private func wake() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Ends the program with `signal`, after which it may end with `code`; another takes its place.
    ///
    /// - Returns: how long the end took.
    @discardableResult
    func end(by signal: Int32, code: Int32) async -> Duration {
        let start = ContinuousClock.now
        let ended = state.withLock { state in
            state.expected.insert(code)
            return state.program
        }
        ended.send(signal)
        await ended.waitForEnd()
        let took = ContinuousClock.now - start
        while program === ended, !Task.isCancelled {
            await withCheckedContinuation { waiter in
                let isThere = state.withLock { state in
                    if state.program === ended { state.waiters.append(waiter) }
                    return state.program !== ended
                }
                if isThere { waiter.resume() }
            }
        }
        return took
    }

    /// Waits until the program that runs now has partitions; one that gives up before leaves that to its successor.
    func waitForPartitions() async throws {
        while true {
            try Task.checkCancellation()
            let current = program
            if await current.logged("partitions.assigned") { return }
            try await waitForSuccessor(of: current)
        }
    }

    private func waitForSuccessor(of ended: Program) async throws {
        await withCheckedContinuation { waiter in
            let isThere = state.withLock { state in
                let isThere = state.program !== ended || state.isRetired
                if !isThere { state.waiters.append(waiter) }
                return isThere
            }
            if isThere { waiter.resume() }
        }
        try Task.checkCancellation()
        try #require(program !== ended, "the worker exited:\n\(ended.lastLines)")
    }

    /// Stops the worker for good, which must end well.
    func retire() async {
        let program = state.withLock { state in
            state.isRetired = true
            state.expected.insert(0)
            return state.program
        }
        program.send(SIGCONT)
        program.terminate()
        await program.waitForEnd()
    }

    /// Stops everything about the worker at once.
    func abandon() {
        state.withLock { state in
            state.isRetired = true
            state.expected.insert(128 + SIGKILL)
            state.program.kill()
        }
    }
}

extension Program {
    var lastLines: String { errorText.split(separator: "\n").suffix(30).joined(separator: "\n") }
}
