import Foundation

/// The streams that a person reads.
package enum Terminal {
    /// The exit code where nobody reads the output any more, as of a program that SIGPIPE ends.
    private static let closedOutput: Int32 = 141

    /// Prints a line of the result on standard output. If nobody reads it any more, as after `| head`, the process ends with
    /// 141. If it cannot be written for another reason, the process ends with 1.
    package static func print(_ line: String) {
        do { try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) } catch {
            // The libraries ignore SIGPIPE, so the end of a pipe is an error here.
            let causes = [error as NSError, (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError]
            if causes.contains(where: { $0?.domain == NSPOSIXErrorDomain && $0?.code == Int(EPIPE) }) {
                exit(closedOutput)
            }
            self.error("remint: standard output cannot be written: \(error.localizedDescription)")
            exit(1)
        }
    }

    /// Whether a person can answer questions on standard input.
    package static var isInteractive: Bool { isatty(FileHandle.standardInput.fileDescriptor) == 1 }

    /// Prints `question` on standard error, and returns the next line of standard input; nil at its end.
    package static func ask(_ question: String) -> String? {
        write(question)
        return readLine()
    }

    /// Prints a line about progress or an error on standard error.
    package static func error(_ line: String) { write(line + "\n") }

    /// Writes to standard error. What cannot be written is dropped: there is no other place for it.
    private static func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
