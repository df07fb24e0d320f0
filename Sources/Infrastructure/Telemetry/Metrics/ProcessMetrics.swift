import Foundation
import Glibc

/// The metrics of the process itself, under the names that Prometheus' client libraries use. They are read when somebody
/// reads the metrics, and never for an event.
public enum ProcessMetrics {
    public static func expose(in registry: MetricsRegistry) {
        let processor = registry.counter("process_cpu_seconds_total", "Processor time of the process, in seconds.")
        let resident = registry.gauge("process_resident_memory_bytes", "Resident memory of the process, in bytes.")
        let virtual = registry.gauge("process_virtual_memory_bytes", "Virtual memory of the process, in bytes.")
        let open = registry.gauge("process_open_fds", "Open files and sockets of the process.")
        let most = registry.gauge("process_max_fds", "Limit on the open files and sockets of the process.")
        let start = registry.gauge(
            "process_start_time_seconds", "Time at which the process started, in seconds since 1970.")
        let threads = registry.gauge("process_threads", "Threads of the process.")
        registry.beforeReading {
            if let figures = ProcessFigures.read() {
                processor.raise(to: figures.processorSeconds)
                resident.set(figures.residentBytes)
                virtual.set(figures.virtualBytes)
                threads.set(Double(figures.threads))
                if let moment = figures.start { start.set(moment) }
            }
            if let count = ProcessFigures.openFiles() { open.set(Double(count)) }
            if let limit = ProcessFigures.fileLimit() { most.set(limit) }
        }
    }
}

/// The figures of this process, as Linux reports them in `/proc`.
struct ProcessFigures: Sendable, Equatable {
    /// The processor time since the start, in seconds.
    var processorSeconds: Double
    var threads: Int
    /// The virtual memory, in bytes.
    var virtualBytes: Double
    /// The resident memory, in bytes.
    var residentBytes: Double
    /// The time of the start, in seconds since 1970; nil if the system's start is unknown.
    var start: Double?

    /// Reads the contents of `/proc/self/stat` and `/proc/stat`; nil for anything else.
    ///
    /// - Parameters:
    ///   - ticks: the number of clock ticks in a second.
    ///   - page: the length of a page, in bytes.
    init?(stat: String, system: String, ticks: Double, page: Double) {
        // The name of the program is in parentheses and may contain spaces and parentheses.
        guard let end = stat.lastIndex(of: ")"), ticks > 0 else { return nil }
        let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace)
        // The numbers in proc(5) count from the process's id; the first field here is the third.
        func field(_ number: Int) -> Double? { number - 3 < fields.count ? Double(fields[number - 3]) : nil }
        guard let user = field(14), let kernel = field(15), let threads = field(20), let started = field(22),
            let virtual = field(23), let resident = field(24), let count = Int(exactly: threads)
        else { return nil }
        processorSeconds = (user + kernel) / ticks
        self.threads = count
        virtualBytes = virtual
        residentBytes = resident * page
        let boot = system.split(separator: "\n").first { $0.hasPrefix("btime ") }
        start = boot.flatMap { Double($0.dropFirst("btime ".count)) }.map { $0 + started / ticks }
    }

    /// Reads the figures of this process; nil if the system has no `/proc`.
    static func read() -> ProcessFigures? {
        guard let stat = text(of: "/proc/self/stat") else { return nil }
        return ProcessFigures(
            stat: stat, system: text(of: "/proc/stat") ?? "", ticks: Double(sysconf(Int32(_SC_CLK_TCK))),
            page: Double(sysconf(Int32(_SC_PAGESIZE))))
    }

    /// Returns the number of open files of this process; nil if the system has no `/proc`.
    static func openFiles() -> Int? {
        // The list itself is one of the open files.
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { max(0, $0.count - 1) }
    }

    /// Returns the limit of open files in the contents of `/proc/self/limits`; nil for anything else.
    static func fileLimit(in limits: String) -> Double? {
        guard let line = limits.split(separator: "\n").first(where: { $0.hasPrefix("Max open files") }) else {
            return nil
        }
        let soft = line.dropFirst("Max open files".count).split(whereSeparator: \.isWhitespace).first
        return soft == "unlimited" ? .infinity : soft.flatMap { Double($0) }
    }

    /// Returns the limit of open files of this process; nil if the system has no `/proc`.
    static func fileLimit() -> Double? { text(of: "/proc/self/limits").flatMap { fileLimit(in: $0) } }

    static func text(of path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The resident memory of this process, and the limit at which the kernel kills it.
public struct ProcessMemory: Sendable, Equatable {
    static let share = 0.85

    let resident: Double
    let limit: Double

    /// Reads both; nil for a process without a limit.
    public static func read() -> ProcessMemory? {
        guard let limit = limit(of: ProcessFigures.text(of: "/proc/self/cgroup") ?? "", ProcessFigures.text),
            let figures = ProcessFigures.read()
        else { return nil }
        return ProcessMemory(resident: figures.residentBytes, limit: limit)
    }

    /// Returns the lowest memory limit of a control group (cgroup v2) and of the groups around it; nil where none has one.
    ///
    /// - Parameters:
    ///   - membership: the contents of `/proc/self/cgroup`.
    ///   - text: reads a file.
    static func limit(of membership: String, _ text: (String) -> String?) -> Double? {
        guard let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return nil }
        var folder = "/sys/fs/cgroup"
        let folders =
            [folder]
            + line.dropFirst("0::/".count).split(separator: "/").map { name in
                folder += "/\(name)"
                return folder
            }
        return folders.compactMap { text("\($0)/memory.max") }
            .compactMap { Double($0.filter { !$0.isWhitespace }) }.filter { $0 > 0 && $0.isFinite }.min()
    }

    /// The reason why memory is short, in one line; nil where it is not.
    public var shortage: String? {
        guard resident > limit * Self.share else { return nil }
        // Both are files' numbers of bytes, and the limit is none of zero.
        let (percent, mebibytes) = (Int64(min(resident / limit, 1e6) * 100), Int64(min(limit, 1e18) / 1_048_576))
        return "\(percent) % of the memory limit of \(mebibytes) MiB is in use"
    }
}
