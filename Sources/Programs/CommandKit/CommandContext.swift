package import AdapterKit
package import Foundation

/// Everything beside its options that a command reads and writes: its process's, or a test's.
package struct CommandContext: Sendable {
    /// A stream that may be a terminal, by its descriptor.
    package enum Stream: Int32, CaseIterable, Sendable { case input, output, errors }

    /// The context of the command that runs.
    @TaskLocal package static var current = CommandContext.process

    /// The words behind the program's name.
    package var arguments: [String]
    /// The environment's variables.
    package var environment: [String: String]
    /// The streams that a person sees or types into.
    package var terminals: Set<Stream>
    /// Writes to standard output.
    package var output: @Sendable (String) -> Void
    /// Writes to standard error.
    package var errors: @Sendable (String) -> Void
    /// Returns the next line of standard input; nil at its end.
    package var nextLine: @Sendable () -> String?
    /// Returns the rest of standard input.
    package var restOfInput: @Sendable () -> Data
    /// The clock.
    package var now: @Sendable () -> UnixTime

    package init(
        arguments: [String], environment: [String: String], terminals: Set<Stream> = [],
        output: @escaping @Sendable (String) -> Void, errors: @escaping @Sendable (String) -> Void,
        nextLine: @escaping @Sendable () -> String? = { nil }, restOfInput: @escaping @Sendable () -> Data = { Data() },
        now: @escaping @Sendable () -> UnixTime = UnixTime.system
    ) {
        self.arguments = arguments
        self.environment = environment
        self.terminals = terminals
        self.output = output
        self.errors = errors
        self.nextLine = nextLine
        self.restOfInput = restOfInput
        self.now = now
    }

    /// The context of this process.
    ///
    /// If nobody reads standard output any more, as after `| head`, the process ends with 141. If it cannot be written for
    /// another reason, the process ends with 1. Errors that cannot be written are dropped: there is no other place for them.
    package static let process = CommandContext(
        arguments: Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment,
        terminals: Set(Stream.allCases.filter { isatty($0.rawValue) == 1 }),
        output: { text in
            do { try FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) } catch {
                // The libraries ignore SIGPIPE, so the end of a pipe is an error here.
                let causes = [error as NSError, (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError]
                if causes.contains(where: { $0?.domain == NSPOSIXErrorDomain && $0?.code == Int(EPIPE) }) {
                    exit(closedOutput)
                }
                writeError("remint: standard output cannot be written: \(error.localizedDescription)\n")
                exit(1)
            }
        }, errors: isService ? BoundedErrors().write : writeError, nextLine: { readLine() },
        restOfInput: { FileHandle.standardInput.readDataToEndOfFile() })

    /// Whether the process is a service, for which its work is worth more than a line about it.
    private static let isService = ["run", "pickup", "signer"].contains(CommandLine.arguments.dropFirst().first)

    /// The exit code where nobody reads the output any more, as of a program that SIGPIPE ends.
    private static let closedOutput: Int32 = 141

    @Sendable private static func writeError(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

extension UnixTime {
    /// The system's clock.
    @Sendable package static func system() -> UnixTime {
        UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1_000_000))
    }
}
