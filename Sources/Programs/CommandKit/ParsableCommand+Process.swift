package import ArgumentParser
import Foundation
import Kafka
import Operations

extension ParsableCommand {
    /// Runs the command that the arguments name, and ends the process with its exit code.
    package static func runToEnd() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            end(EXIT_SUCCESS)
        } catch {
            end(with: error)
        }
    }

    /// Prints `error`, and ends the process. Exit codes: 0 done, 1 wrong request or failed check, 2 usage, 75 try again later.
    package static func end(with error: any Error) -> Never {
        if error is KafkaError || error is ReissueHeld {
            Terminal.error("\(configuration.commandName ?? ""): \(error)")
            end(75)
        }
        let code = exitCode(for: error), message = fullMessage(for: error)
        if !message.isEmpty { code.isSuccess ? Terminal.print(message) : Terminal.error(message) }
        end(code == .validationFailure ? 2 : code.rawValue)
    }

    /// Ends the process without its libraries' own clean-up. Kafka clients that did not close in time still free
    /// themselves on threads of their own, and use parts of libcrypto and other libraries that the clean-up would
    /// remove.
    private static func end(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }
}
