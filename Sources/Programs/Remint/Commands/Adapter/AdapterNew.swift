import AdapterKit
import ArgumentParser
import DeclaredAdapters
import Foundation
import JOSE

/// `remint adapter new`.
struct AdapterNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Writes a vendor's file to fill in.",
        discussion: .help(
            """
            The file is NAME.yaml in this folder. It passes remint adapter lint, and remint adapter test names each value that is \
            still to be filled in. A file that exists is not overwritten.
            """,
            examples: """
                remint adapter new our-vendor
                remint adapter new acme-chat --algorithm ES256
                """))

    @Argument(help: ArgumentHelp("The vendor's name in small letters, digits and hyphens.", valueName: "name"))
    var name: String

    @Option(
        help: ArgumentHelp(
            "The algorithm of the tokens. Default: HS256. A key pair for the tests is made and written into the file.",
            valueName: "ES256"))
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
