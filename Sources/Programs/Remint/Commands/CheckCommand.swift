import AdapterKit
import ArgumentParser
import JOSE
import Pickup
import Preflight
import Serving
import Vendors
import Worker
import WorkerConfiguration

/// `remint check`: reports every error of a configuration with its place; with `--connect` also tests its connections.
struct CheckCommand: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a configuration and its keys. With --connect, also tests its connections.",
        discussion: .help(
            """
            Each line of the output is file:line:column: severity: message. The exit code is 1 in these cases:

              - a worker or a gateway could not start
              - an app cannot sign
              - a certificate has expired
              - a compromised key is in use
              - with --connect, a connection does not work as the service needs it

            A notice is not repeated if its line in the file ends with the comment "# accepted: REASON".

            Without --connect, the command opens no connection. With --connect, the command tests the brokers, the
            topics, the groups and a transactional id. It also tests the vendors' endpoints, the signers and the issuers
            of the gateway's sessions. It prints one line for each test. The command creates no topic, writes no record
            and joins no group that workers are in.
            """,
            examples: """
                remint check --config remint.yaml
                remint check --config remint.yaml --connect --timeout 5s
                """))

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print each finding, even if there are many of one kind.") var all = false
    @Flag(help: "Print all findings as JSON.") var json = false
    @Flag(help: "Also test the connections to brokers, vendors' endpoints, signers and issuers.") var connect = false
    @Option(help: "Timeout of each test with --connect, such as 15s or 500ms; for an issuer's key set at most 5s.")
    var timeout = "15s"

    func run() async throws {
        guard let limit = DurationText.parse(timeout) else {
            throw ValidationError("--timeout is a duration such as 15s or 500ms")
        }
        let preflight = Preflight(file: options.config, registry: .remint, source: .system)
        let gateway = (preflight.configuration.map(PickupService.diagnostics) ?? []) + openFiles
        let now = CommandContext.current.now()
        let notices = preflight.notices(at: now)
        let gatewayNotices = preflight.configuration.map { PickupService.notices(for: $0, at: now) } ?? []
        let isReady =
            preflight.isReady && gateway.isEmpty
            && !(notices + gatewayNotices).contains { $0.severity == .error }
        let diagnostics = preflight.diagnostics + gateway + notices + gatewayNotices
        let openedApps = isReady ? preflight.configuration.map(PickupService.openedApps) ?? [] : []
        if !json {
            for line in lines(of: diagnostics) { Terminal.error(line) }
            if isReady, let summary = preflight.summary { Terminal.print("\(options.config): ok: \(summary)") }
            for line in openedApps { Terminal.print("\(options.config): \(line)") }
        }
        var answers: [ConnectionAnswer]?
        if connect, isReady, let configuration = preflight.configuration {
            let check = ConnectionCheck(configuration, limit: limit) { section, limit in
                try await PickupService.sessionKeys(of: section, in: configuration, within: limit)
            }
            answers = await check.run { [json] answer in
                if !json { Terminal.print("\(answer)") }
            }
        }
        let isOK = isReady && answers?.allSatisfy(\.isOK) != false
        if json { Terminal.print(report(diagnostics, openedApps, answers, isOK: isOK)) }
        if !isOK { throw ExitCode.failure }
    }

    /// Returns the lines about `diagnostics`: with `--all` one for each. Otherwise one for many of a kind, and none for an
    /// accepted notice.
    private func lines(of diagnostics: [Diagnostic]) -> [String] {
        guard !all else { return diagnostics.map(\.description) }
        var files: [String: [Substring]] = [:]
        let open = diagnostics.filter { !isAccepted($0, &files) }
        return DiagnosticLines(open, remedy: "see each with: remint check --all").lines
    }

    /// Returns whether the line of a notice ends with the comment `# accepted: REASON`.
    private func isAccepted(_ diagnostic: Diagnostic, _ files: inout [String: [Substring]]) -> Bool {
        guard diagnostic.severity == .notice else { return false }
        let name = diagnostic.place.file
        if files[name] == nil, case .contents(let text) = ConfigurationSource.system.file(name) {
            files[name] = text.split(separator: "\n", omittingEmptySubsequences: false)
        }
        let lines = files[name] ?? []
        let place = diagnostic.place.line - 1
        return lines.indices.contains(place) && lines[place].contains(/# accepted: *\S/)
    }

    /// The limit of open files, where a worker could not run with it.
    private var openFiles: [Diagnostic] {
        OpenFiles.raised().problem(OpenFiles.operators, for: "a worker").map {
            [Diagnostic(.error, at: FileLocation(file: options.config, line: 1, column: 1), $0)]
        } ?? []
    }

    /// - Parameters:
    ///   - openedApps: the sessions that open each app, where there is a gateway.
    ///   - answers: of `--connect`; nil where nothing was asked.
    private func report(
        _ diagnostics: [Diagnostic], _ openedApps: [String], _ answers: [ConnectionAnswer]?, isOK: Bool
    ) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.name("ok")
        json.bool(isOK)
        json.name("diagnostics")
        json.beginArray()
        for diagnostic in diagnostics {
            json.beginObject()
            json.member("file", diagnostic.place.file)
            json.member("line", Int64(diagnostic.place.line))
            json.member("column", Int64(diagnostic.place.column))
            json.member("severity", diagnostic.severity.rawValue)
            json.member("message", diagnostic.message)
            json.endObject()
        }
        json.endArray()
        if !openedApps.isEmpty {
            json.name("pickup")
            json.beginArray()
            for line in openedApps { json.string(line) }
            json.endArray()
        }
        if let answers {
            json.name("connections")
            json.beginArray()
            for answer in answers {
                json.beginObject()
                json.member("asked", "\(answer.question)")
                json.name("ok")
                json.bool(answer.isOK)
                json.member("detail", answer.detail)
                json.endObject()
            }
            json.endArray()
        }
        json.endObject()
        return json.printable
    }
}
