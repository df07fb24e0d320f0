public import AdapterKit
import Foundation
import Vendors

/// The command `remint` as a library, for a program with adapters of its own.
///
/// ```swift
/// @main enum Program {
///     static func main() async { await RemintMain.run(adapters: [.init(ExampleAdapter.self)]) }
/// }
/// ```
///
/// The program has every command of `remint`. SwiftPM puts the folders of resources beside the program, and it looks for
/// the shipped vendors' files and the recorded reports there; an installed program has them in `../share/remint`.
public enum RemintMain {
    /// Runs the command that the process's arguments name, and ends the process with the command's exit code.
    ///
    /// - Parameter adapters: the adapters that the program offers besides the shipped ones. An adapter replaces a shipped
    ///   one of its name, so a later release of Remint that adds a vendor does not change the program's.
    @concurrent public static func run(adapters: [AdapterRegistration] = []) async {
        if let mistake = AdapterRegistry.mistake(in: adapters) {
            Terminal.error("Error: \(mistake)")
            endProcess(with: 2)
        }
        AdapterRegistry.add(adapters)
        // A file that others could change is read by no command again.
        umask(umask(0o022) | 0o022)
        endProcess(with: await RemintCommandLine.answer())
    }

    /// Runs a command in this process, and returns its exit code.
    ///
    /// - Parameter context: the arguments and everything else that the command reads and writes.
    @concurrent package static func run(in context: CommandContext) async -> Int32 {
        await CommandContext.$current.withValue(context) { await RemintCommandLine.answer() }
    }
}
