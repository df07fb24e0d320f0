package import ArgumentParser
import Foundation
import Kafka
import Operations

extension ParsableCommand {
    /// Runs the command that the arguments name, and ends the process with its exit code.
    package static func runToEnd() async {
        let parsed = parsedOrEnd()
        do {
            var command = parsed
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            end(EXIT_SUCCESS)
        } catch let error as ValidationError {
            // The parser knows the command of its own errors alone.
            end(usage: error.message, of: type(of: parsed))
        } catch {
            end(with: error)
        }
    }

    /// Returns the command that the arguments name. Without one, prints the mistake or the help, and ends the process.
    package static func parsedOrEnd() -> any ParsableCommand {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            let command = try parseAsRoot(arguments)
            // The parser answers `help` with any word behind it.
            guard arguments.first == "help", let mistake = UsageMistake(in: arguments, of: self, isAnswered: true)
            else {
                return command
            }
            end(usage: mistake.message, of: mistake.command)
        } catch {
            // Help and the program's version are errors of the parser, too.
            let mistake = UsageMistake(in: arguments, of: self, isAnswered: exitCode(for: error).isSuccess)
            guard let mistake else { end(with: error) }
            end(usage: mistake.message, of: mistake.command)
        }
    }

    /// Prints `error`, and ends the process. Exit codes: 0 done, 1 wrong request or failed check, 2 usage, 75 try again later.
    package static func end(with error: any Error) -> Never {
        if error is KafkaError || error is ReissueHeld {
            Terminal.error("\(configuration.commandName ?? ""): \(error)")
            end(75)
        }
        let code = exitCode(for: error), message = fullMessage(for: error).wrappingUsage(at: Terminal.columns)
        if !message.isEmpty { code.isSuccess ? Terminal.print(message) : Terminal.error(message) }
        end(code == .validationFailure ? 2 : code.rawValue)
    }

    /// Prints a wrong use of `command` with its usage, and ends the process.
    private static func end(usage message: String, of command: any ParsableCommand.Type) -> Never {
        Terminal.error("Error: \(message)\n\(usage(of: command).wrappingUsage(at: Terminal.columns))")
        end(2)
    }

    /// Ends the process without its libraries' own clean-up. Kafka clients that did not close in time still free
    /// themselves on threads of their own, and use parts of libcrypto and other libraries that the clean-up would
    /// remove.
    private static func end(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }
}
