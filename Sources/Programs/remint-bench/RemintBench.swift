import ArgumentParser
import Bench
import CommandKit
import Foundation
import JOSE

/// The command line: measurements on this machine.
@main
struct RemintBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remint-bench", abstract: "Measures the cost of Remint's work on this machine.",
        discussion: """
            Each command measures in rounds. In each round, it measures the compared items in turn. It prints the median
            of the rounds, with the lowest and the highest figure. Use the figures only for comparisons: the command
            computes ratios round by round.
            """,
        subcommands: [
            BenchMint.self, BenchWorker.self, BenchGrowth.self, BenchLedger.self, BenchPickup.self,
        ])

    static func main() async { endProcess(with: await exitCode()) }
}

/// The options of a measurement.
struct BenchOptions: ParsableArguments {
    @Option(help: "Number of rounds.") var rounds = 5
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard (1...1000).contains(rounds) else { throw ValidationError("--rounds is 1 to 1000") }
    }

    /// Prints measurements as JSON.
    ///
    /// - Parameters:
    ///   - subject: members that all rows share.
    ///   - write: writes a row's members.
    func printJSON<Row>(
        _ benchmark: String, of rows: [Row], subject: (inout JSONWriter) -> Void = { _ in },
        _ write: (inout JSONWriter, Row) -> Void
    ) {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", benchmark)
        subject(&json)
        json.member("rounds", Int64(rounds))
        json.name("results")
        json.beginArray()
        for row in rows {
            json.beginObject()
            write(&json, row)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        Terminal.print(String(decoding: json.bytes, as: UTF8.self))
    }
}

extension BenchApp {
    /// Returns the app whose tokens have the algorithm of an option.
    ///
    /// - Throws: `ValidationError` for an algorithm that no app is for.
    static func named(_ algorithm: String) throws -> BenchApp {
        do { return try BenchApp(algorithm) } catch let error as BenchFailed {
            throw ValidationError(error.description)
        }
    }
}

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
