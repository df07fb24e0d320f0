package import ArgumentParser
import Foundation
import Kafka
import Operations

extension ParsableCommand {
    /// Runs the command that the context's arguments name, and returns its exit code: 0 done, 1 wrong request or failed check,
    /// 2 usage, 75 try again later.
    package static func exitCode() async -> Int32 {
        let parsed: any ParsableCommand
        do throws(ExitCode) { parsed = try parse() } catch { return error.rawValue }
        do {
            var command = parsed
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return EXIT_SUCCESS
        } catch let error as ValidationError {
            // The parser knows the command of its own errors alone.
            return refuse(usage: error.message, of: type(of: parsed))
        } catch {
            return report(error)
        }
    }

    /// Returns the command that the context's arguments name.
    ///
    /// - Throws: `ExitCode` where they name none, after it printed the mistake or the help.
    package static func parse() throws(ExitCode) -> any ParsableCommand {
        let arguments = CommandContext.current.arguments
        do {
            let command = try parseAsRoot(arguments)
            // The parser answers `help` with any word behind it.
            guard arguments.first == "help", let mistake = UsageMistake(in: arguments, of: self, isAnswered: true)
            else {
                return command
            }
            throw ExitCode(refuse(usage: mistake.message, of: mistake.command))
        } catch let code as ExitCode {
            throw code
        } catch {
            // Help and the program's version are errors of the parser, too.
            let mistake = UsageMistake(in: arguments, of: self, isAnswered: exitCode(for: error).isSuccess)
            guard let mistake else { throw ExitCode(report(error)) }
            throw ExitCode(refuse(usage: mistake.message, of: mistake.command))
        }
    }

    /// Prints `error`, and returns its exit code.
    private static func report(_ error: any Error) -> Int32 {
        if error is KafkaError || error is ReissueHeld {
            Terminal.error("\(configuration.commandName ?? ""): \(error)")
            return 75
        }
        let code = exitCode(for: error), columns = Terminal.columns
        let message = fullMessage(for: error, columns: columns).wrappingUsage(at: columns)
        if !message.isEmpty { code.isSuccess ? Terminal.print(message) : Terminal.error(message) }
        return code == .validationFailure ? 2 : code.rawValue
    }

    /// Prints a wrong use of `command` with its usage, and returns its exit code.
    private static func refuse(usage message: String, of command: any ParsableCommand.Type) -> Int32 {
        Terminal.error("Error: \(message)\n\(usage(of: command).wrappingUsage(at: Terminal.columns))")
        return 2
    }
}

/// Ends the process without its libraries' own clean-up. Kafka clients that did not close in time still free themselves on
/// threads of their own, and use parts of libcrypto and other libraries that the clean-up would remove.
package func endProcess(with code: Int32) -> Never {
    fflush(nil)
    _exit(code)
}
