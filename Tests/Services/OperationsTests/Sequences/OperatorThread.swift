import Foundation
import Glibc
import Synchronization

/// The account under which a command is run.
enum Account: CaseIterable {
    /// An operator who is root.
    case root
    /// The account of the worker, which the ring's folder belongs to.
    case service

    /// Whether this process may change its account.
    static let mayChange = geteuid() == 0
    /// The id of the service's account and group where it may.
    static let serviceID: UInt32 = mayChange ? 12_345 : geteuid()

    var other: Account { self == .root ? .service : .root }

    /// Runs `body` on this thread under the account. `body` must not leave the thread.
    func act<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        let before = geteuid()
        Self.become(self == .root && Self.mayChange ? 0 : Self.serviceID)
        defer { Self.become(before) }
        return try await body()
    }

    /// Changes this thread's account alone: the system call, not the library's function, which changes all threads.
    private static func become(_ user: UInt32) {
        guard mayChange, geteuid() != user, let call else { return }
        if user != 0 { _ = call(resourceGroup, -1, Int(user), -1) }
        _ = call(resourceUser, -1, Int(user), -1)
        if user == 0 { _ = call(resourceGroup, -1, 0, -1) }
    }

    #if arch(x86_64)
        private static let (resourceUser, resourceGroup) = (117, 119)
    #else
        private static let (resourceUser, resourceGroup) = (147, 149)
    #endif
    private typealias SystemCall = @convention(c) (Int, Int, Int, Int) -> Int
    private static let call = dlsym(nil, "syscall").map { unsafeBitCast($0, to: SystemCall.self) }
}

/// One thread that runs a task: an account that is changed on it is no other task's.
final class OperatorThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let isOver = Mutex(false)
    private let ready = DispatchSemaphore(value: 0)

    init() {
        let thread = Thread { [self] in work() }
        thread.stackSize = 8 << 20
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        ready.signal()
    }

    func stop() {
        isOver.withLock { $0 = true }
        ready.signal()
    }

    private func work() {
        while true {
            ready.wait()
            if let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                job.runSynchronously(on: asUnownedTaskExecutor())
            } else if isOver.withLock({ $0 }) {
                return
            }
        }
    }
}
