import Foundation

/// The streams that a person reads.
package enum Terminal {
    /// Prints a line of the result on standard output.
    package static func print(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Whether a person can answer questions on standard input.
    package static var isInteractive: Bool { isatty(FileHandle.standardInput.fileDescriptor) == 1 }

    /// Prints `question` on standard error, and returns the next line of standard input; nil at its end.
    package static func ask(_ question: String) -> String? {
        FileHandle.standardError.write(Data(question.utf8))
        return readLine()
    }

    /// Prints a line about progress or an error on standard error.
    package static func error(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
