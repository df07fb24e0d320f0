/// The resident memory of this process, and the limit at which the kernel kills it.
public struct ProcessMemory: Sendable, Equatable {
    /// The share of the limit at which memory is short.
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
