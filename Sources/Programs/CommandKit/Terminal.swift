import Foundation

/// The streams that a person reads.
package enum Terminal {
    /// Prints a line of the result on standard output.
    package static func print(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Prints a line about progress or an error on standard error.
    package static func error(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
