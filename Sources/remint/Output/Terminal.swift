import Foundation

/// The streams that a person reads.
enum Terminal {
    /// Prints a line of the result on standard output.
    static func print(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Prints a line about progress or an error on standard error.
    static func error(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
