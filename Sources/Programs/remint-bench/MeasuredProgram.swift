import ArgumentParser
import Foundation

/// `--remint`, the program whose worker and gateway are measured.
struct MeasuredProgram: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The program to measure. Default: remint in the folder of this program.", valueName: "program"))
    private var remint: String?

    /// The program's place.
    var url: URL {
        if let remint { return URL(filePath: remint) }
        let own = Bundle.main.executableURL?.resolvingSymlinksInPath()
        return own?.deletingLastPathComponent().appending(path: "remint") ?? URL(filePath: "remint")
    }

    func validate() throws {
        guard FileManager.default.isExecutableFile(atPath: url.path) else {
            throw ValidationError("\(url.path): no such program; build it with make release, or name it with --remint")
        }
    }
}
