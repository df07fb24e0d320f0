/// The limit on lines about the same fault: a few in any minute. A value without a clock.
public struct RepeatLimit: Sendable {
    /// The decision about a line.
    public enum Verdict: Sendable, Equatable {
        /// The line is written, with the number of lines that were not since the last one that was.
        case written(suppressed: Int)
        /// The line repeats others. The number of such lines in a row, with this one.
        case repeated(Int)
    }

    private struct Lines {
        var written: [Duration] = []
        var suppressed = 0
    }

    /// The most lines about a fault in a minute.
    public static let most = 5
    private static let window = Duration.seconds(60)
    /// The most faults that are remembered, so that no fault with endless names fills the memory.
    private static let mostFaults = 1024

    private var faults: [String: Lines] = [:]

    /// No line yet.
    public init() {}

    /// Returns the decision about a line.
    ///
    /// - Parameters:
    ///   - fault: the name of the fault that the line is about.
    ///   - most: the most lines about it in a minute.
    ///   - now: the time since any moment, by a clock that nobody sets.
    public mutating func verdict(on fault: String, most: Int = Self.most, at now: Duration) -> Verdict {
        if faults[fault] == nil, faults.count >= Self.mostFaults { forget(before: now - Self.window) }
        var lines = faults[fault] ?? Lines()
        lines.written.removeAll { $0 <= now - Self.window }
        defer { faults[fault] = lines }
        guard lines.written.count < most else {
            lines.suppressed += 1
            return .repeated(lines.suppressed)
        }
        lines.written.append(now)
        defer { lines.suppressed = 0 }
        return .written(suppressed: lines.suppressed)
    }

    private mutating func forget(before limit: Duration) {
        faults = faults.filter { $0.value.written.last.map { $0 > limit } ?? false }
        if faults.count >= Self.mostFaults { faults = [:] }
    }
}
