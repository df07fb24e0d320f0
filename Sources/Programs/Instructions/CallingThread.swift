import Synchronization

/// Runs asynchronous work on the thread that asks for it, child tasks included, so that valgrind counts the same every time.
final class CallingThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let failure = Mutex<(any Error)?>(nil)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Returns when `work` is done. It may wait for nothing but its own tasks.
    ///
    /// - Throws: what `work` throws.
    func run(_ work: @escaping @Sendable () async throws -> Void) throws {
        Task(executorPreference: self) {
            do { try await work() } catch { self.failure.withLock { $0 = error } }
        }
        while let job = jobs.withLock({ $0.popLast() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
