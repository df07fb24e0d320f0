import Foundation

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
