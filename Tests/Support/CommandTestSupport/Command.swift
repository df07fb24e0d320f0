package import AdapterKit
package import CommandKit
package import Foundation
import Remint
import Synchronization

/// A command that ran in the test's process, with its exit code and everything that it wrote.
///
/// A test starts a process only where the process is the subject: its signals, exit codes, memory or pipes.
package struct Command: Sendable {
    package let status: Int32
    package let outputText: String
    package let errorText: String
    package var standardOutput: Data { Data(outputText.utf8) }

    /// Runs `remint` with `arguments`.
    ///
    /// - Parameters:
    ///   - directory: the folder from which relative paths among the arguments count. What is printed names them without it.
    ///   - environment: the variables beside those of this process; nil for one that is not there.
    ///   - terminals: the streams that are a person's.
    ///   - now: the time that the command sees; nil for the system's.
    package static func remint(
        _ arguments: [String], input: Data? = nil, directory: URL? = nil, environment: [String: String?] = [:],
        terminals: Set<CommandContext.Stream> = [], now: UnixTime? = nil
    ) async throws -> Command {
        var arguments = arguments
        // Without the option, the current folder is meant.
        if let directory, arguments.first == "init", !arguments.contains("--dir") {
            arguments += ["--dir", directory.path]
        }
        return try await run(arguments, input, directory, environment, terminals, now) { await RemintMain.run(in: $0) }
    }

    /// Runs another program's command line with `arguments`.
    ///
    /// - Throws: `CancellationError` if the test's time ran out meanwhile.
    package static func run(
        _ arguments: [String], _ input: Data? = nil, _ directory: URL? = nil, _ environment: [String: String?] = [:],
        _ terminals: Set<CommandContext.Stream> = [], _ now: UnixTime? = nil, _ program: (CommandContext) async -> Int32
    ) async throws -> Command {
        let streams = Streams(input ?? Data())
        let base = directory.map { $0.path + "/" }
        var variables = ProcessInfo.processInfo.environment
        for (name, value) in environment { variables[name] = value }
        if let base, let path = variables[configuration], !path.hasPrefix("/") {
            variables[configuration] = base + path
        }
        let context = CommandContext(
            arguments: base.map { absolute(arguments, in: $0) } ?? arguments, environment: variables,
            terminals: terminals, output: { text in streams.state.withLock { $0.output += text } },
            errors: { text in streams.state.withLock { $0.errors += text } },
            nextLine: { streams.state.withLock { $0.nextLine() } },
            restOfInput: {
                streams.state.withLock { state in
                    defer { state.input = [] }
                    return Data(state.input)
                }
            }, now: { now ?? .system() })
        let status = await program(context)
        try Task.checkCancellation()
        let (output, errors) = streams.state.withLock { ($0.output, $0.errors) }
        return Command(
            status: status, outputText: base.map { output.replacing($0, with: "") } ?? output,
            errorText: base.map { errors.replacing($0, with: "") } ?? errors)
    }

    private final class Streams: Sendable {
        struct State {
            var input: ArraySlice<UInt8>
            var output = ""
            var errors = ""

            mutating func nextLine() -> String? {
                guard !input.isEmpty else { return nil }
                let line = input.prefix { $0 != UInt8(ascii: "\n") }
                input = input.dropFirst(line.count + 1)
                return String(decoding: line, as: UTF8.self)
            }
        }

        let state: Mutex<State>

        init(_ input: Data) { state = Mutex(State(input: [UInt8](input)[...])) }
    }

    /// The variable whose value is a path.
    private static let configuration = "REMINT_CONFIG"

    private static let paths: Set = [
        "--config", "-c", "--dir", "--import", "--input", "--jwk", "--passphrase-file", "--pem", "--recipient",
        "--report", "--secret", "--socket", "--state",
    ]

    /// Returns `arguments` with the relative paths among them below `base`: a path option's value, and the name of a file there.
    private static func absolute(_ arguments: [String], in base: String) -> [String] {
        arguments.indices.map { index in
            let argument = arguments[index]
            if let split = argument.firstIndex(of: "="), paths.contains(String(argument[..<split])) {
                let path = argument[argument.index(after: split)...]
                return path.isEmpty || path.hasPrefix("/") ? argument : "\(argument[...split])\(base)\(path)"
            }
            let isValue = index > 0 && paths.contains(arguments[index - 1])
            guard !argument.isEmpty, argument != "-", !argument.hasPrefix("/"), !argument.hasPrefix("--") else {
                return argument
            }
            let isFile = FileManager.default.fileExists(atPath: base + argument)
            return isValue || (isFile && argument.contains { $0 == "/" || $0 == "." }) ? base + argument : argument
        }
    }
}
