import Foundation

/// A service of the measured program in a process of its own, seen from outside.
struct WorkerProcess {
    private let process = Process()

    /// The worker of `program` with the configuration in `folder`.
    ///
    /// - Parameter command: another of the program's services.
    init(_ program: URL, _ folder: URL, command: String = "run") {
        process.executableURL = program
        process.arguments = [command, "--config", folder.appending(path: "remint.yaml").path]
    }

    func launch() throws { try process.run() }

    var isRunning: Bool { process.isRunning }

    /// Sends SIGUSR1: the worker takes nothing new, or, the second time, takes everything again.
    func toggleQuiet() { kill(process.processIdentifier, SIGUSR1) }

    /// Sends SIGTERM, and waits until the process has exited.
    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    /// The processor time it has used, by all threads, in seconds.
    var cpuSeconds: Double {
        // Behind the program's name, which may hold anything: state, …, utime and stime as fields 14 and 15 of proc(5).
        let file = "/proc/\(process.processIdentifier)/stat"
        guard let text = try? String(contentsOfFile: file, encoding: .utf8), let end = text.lastIndex(of: ")") else {
            return 0
        }
        let fields = text[end...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
        return (user + system) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    }

    /// The memory it has, in bytes.
    var residentBytes: Int { ResidentMemory.now(of: process.processIdentifier) }

    /// The most memory it had, in bytes.
    var peakBytes: Int { ResidentMemory.peak(of: process.processIdentifier) }
}
