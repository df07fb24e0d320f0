import AdapterKit
import ArgumentParser
import CommandKit
import Foundation
import Logging
import Operations
import Pipeline
import Worker
import WorkerConfiguration
import YAMLReading

/// The options of a pause: its reason, its author and its length.
struct PauseOptions: ParsableArguments {
    @Option(name: [.customLong("reason"), .customLong("why")], help: "The reason, for the next operator.") var reason =
        ""
    @Option(help: "The operator's name. Default: the account's name.") var by: String?
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Time after which the pause ends by itself. Default: never.", valueName: "1h"))
    var length: String?

    func validate() throws {
        guard reason.utf8.count <= 500, (by ?? "").utf8.count <= 200 else {
            throw ValidationError("--reason has at most 500 bytes, --by 200")
        }
        guard length.map({ (Self.seconds($0) ?? 0) > 0 }) ?? true else {
            throw ValidationError("--for is a duration of a second or more, such as 30s, 10m, 1h or 7d")
        }
    }

    /// The author of the pause.
    var author: String { by ?? NSUserName() }

    /// Returns the time at which a pause that begins at `now` ends by itself; nil where it does not.
    func until(from now: UnixTime) -> UnixTime? {
        length.flatMap(Self.seconds).map { now.advanced(bySeconds: $0) }
    }

    private static func seconds(_ text: String) -> Int64? { DurationText.parse(text)?.components.seconds }
}

extension ControlStates {
    /// Returns the suspensions and pauses of the fleet's apps and lanes now.
    ///
    /// - Throws: `ExitCode` 75, after a line with the reason.
    func readOrTryLater() async throws -> ControlHolds {
        try await orTryLater("the control topic cannot be read") { try await read(at: CommandContext.current.now()) }
    }

    /// Publishes `words` to every worker.
    ///
    /// - Throws: `ExitCode` 75, after a line with the reason.
    func writeOrTryLater(_ words: [ControlWord]) async throws {
        try await orTryLater("the control topic was not written") { try await write(words) }
    }
}

extension Array {
    /// Returns the elements that `isMeant` accepts, and the others, each in their order.
    func partitioned(_ isMeant: (Element) -> Bool) -> (meant: [Element], others: [Element]) {
        (filter(isMeant), filter { !isMeant($0) })
    }
}
