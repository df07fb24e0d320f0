import Foundation
import Operations

/// The streams that a person reads, of the command that runs.
package enum Terminal {
    private static var context: CommandContext { .current }

    /// Prints a line of the result on standard output.
    package static func print(_ line: String) { context.output(line + "\n") }

    /// Whether a person can answer questions on standard input.
    package static var isInteractive: Bool { context.terminals.contains(.input) }

    /// Prints `question` on standard error, and returns the next line of standard input; nil at its end.
    package static func ask(_ question: String) -> String? {
        context.errors(question)
        return context.nextLine()
    }

    /// Prints a line about progress or an error on standard error.
    package static func error(_ line: String) { context.errors(line + "\n") }

    /// The width that the parser gives help pages: of `COLUMNS`, of the terminal, or 80.
    static var columns: Int {
        if let columns = context.environment["COLUMNS"].flatMap({ Int($0) }) { return columns }
        guard context.terminals.contains(.output) else { return 80 }
        var size = winsize()
        let isTerminal = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isTerminal ? Int(size.ws_col) : 80
    }
}

/// A line on standard error that is overwritten as work continues; nothing where standard error is no terminal.
package struct ProgressLine: ProgressDisplay {
    /// Whether anybody sees it.
    package let isShown = CommandContext.current.terminals.contains(.errors)
    private var last = ContinuousClock.now - .seconds(1)
    private var isDirty = false
    private var pace = ProgressPace()

    package init() {}

    /// Shows how many of `total` are done, at most ten times a second.
    package mutating func show(_ done: Int, of total: Int, _ note: String) {
        let now = ContinuousClock.now
        guard isShown, now - last >= .milliseconds(100) else { return }
        last = now
        isDirty = true
        let share = total > 0 ? min(1, Double(done) / Double(total)) : 1
        let filled = Int(share * 30)
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
        write("\r\(bar) \(Int(share * 100)) %  \(note)\(pace.words(done, of: total, at: now))\u{1B}[K")
    }

    /// Removes the line.
    package mutating func clear() {
        guard isDirty else { return }
        isDirty = false
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) { CommandContext.current.errors(text) }
}
