import Foundation
import Glibc

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

    /// Returns the contents of the file at `path`; nil if it cannot be read.
    static func text(of path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
    }
}
