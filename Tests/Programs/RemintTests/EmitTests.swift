import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

/// `remint emit` with users that no worker would answer.
@Suite(.timeLimit(.minutes(5))) struct EmitTests {
    private struct Mistake: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let says: String
        var testDescription: String { arguments.joined(separator: " ") }
    }

    private static let mistakes = [
        Mistake(
            arguments: ["--user", "*"], says: "--user: \"reissue\": the user's id holds characters other than [^*]"),
        Mistake(arguments: ["--user", ""], says: "--user: "),
        Mistake(
            arguments: ["--user", "a\nb"], says: "--user: \"reissue\": the user's id holds a control character"),
        Mistake(arguments: ["--user", " "], says: "--user: \"reissue\": the user's id is nothing but white space"),
        Mistake(
            arguments: ["--user", String(repeating: "u", count: 1025)],
            says: "--user: \"reissue\": the user's id is longer than"),
        Mistake(arguments: ["--user", "{"], says: "--user: "),
        Mistake(
            arguments: ["--report", "report.json", "--vouched", #"{"user":"*"}"#],
            says: "--vouched: \"vouched\": the user's id holds characters other than [^*]"),
        Mistake(arguments: ["--report", "report.json", "--vouched", "{}"], says: "--vouched: "),
        Mistake(arguments: ["--report", "report.json", "--vouched", "u-42"], says: "--vouched: "),
    ]

    @Test func `a user that the worker would refuse is refused before anything is sent`() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        // Nobody listens there: what was sent would be waited for.
        try Data(
            """
            kafka: { bootstrap_servers: "127.0.0.1:1" }
            keys: { shop: { path: keys } }
            apps: { ios: { adapter: ably, key: shop } }

            """.utf8
        ).write(to: folder.appending(path: "remint.yaml"))
        try Data("{}".utf8).write(to: folder.appending(path: "report.json"))
        let made = try await Command.remint(
            ["keys", "generate", "--config", "remint.yaml", "--id", "a"], directory: folder)
        try #require(made.status == 0, "\(made.errorText)")
        for mistake in Self.mistakes {
            let program = try await Command.remint(
                ["emit", "--config", "remint.yaml", "--app", "ios"] + mistake.arguments,
                directory: folder)
            #expect(program.status == 2, "\(mistake)")
            #expect(program.outputText.isEmpty, "\(mistake)")
            let line = program.errorText.split(separator: "\n").first { $0.contains(mistake.says) }
            #expect(line != nil, "\(mistake): \(program.errorText)")
        }
    }
}
