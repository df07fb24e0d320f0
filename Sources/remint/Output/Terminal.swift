import Foundation

/// The streams that a person reads.
enum Terminal {
    /// A line for the result.
    static func print(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// A line for what goes on or went wrong.
    static func error(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
