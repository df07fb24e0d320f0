import AdapterKit
import ArgumentParser
import DeclaredAdapters
import Foundation
import JOSE

/// `remint adapter new`.
struct AdapterNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Writes a vendor file for you to fill in.",
        discussion: .help(
            """
            The command writes the file NAME.yaml in the current folder, and overwrites no existing file. The new file
            passes remint adapter lint. remint adapter test names each value that you must still fill in.
            """,
            examples: """
                remint adapter new our-vendor
                remint adapter new acme-chat --algorithm ES256
                """))

    @Argument(help: ArgumentHelp("The vendor's name, in lowercase letters, digits and hyphens.", valueName: "name"))
    var name: String

    @Option(
        help: ArgumentHelp(
            """
            The algorithm of the tokens. Default: HS256. For a key pair, the command writes a new key for the tests \
            into the file.
            """, valueName: "ES256"))
    var algorithm: Algorithm?

    func run() throws {
        guard let skeleton = try FileSkeleton(name: name, algorithm: algorithm ?? .hs256) else {
            throw ValidationError(
                "\(name) is no vendor's name; write small letters, digits and hyphens, such as our-vendor")
        }
        let file = "\(name).yaml"
        do { try Data(skeleton.text.utf8).write(to: URL(filePath: file), options: .withoutOverwriting) } catch {
            let exists = FileManager.default.fileExists(atPath: file)
            throw ValidationError(
                exists
                    ? "\(file) exists and is not overwritten; choose another name, or remove the file"
                    : "\(file) cannot be written in this folder; change to one that you may write")
        }
        Terminal.print(
            """
            wrote \(file)
            Replace each value that begins with \(FileSkeleton.mark). Then:
              remint adapter lint \(file)    reports every error
              remint adapter test \(file)    runs the tests in the file
              remint adapter docs \(file)    prints the file as a page
            Configure it: adapter: ./\(file) under apps.NAME
            """)
    }
}
