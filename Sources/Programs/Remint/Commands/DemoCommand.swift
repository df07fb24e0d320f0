import AdapterKit
import ArgumentParser
import Demonstration
import Formats
import JOSE
import Logging
import Pipeline
import WorkerConfiguration

/// `remint demo`: everything, once, on the embedded broker.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Demonstrates the worker on an embedded broker, with generated keys.",
        discussion: .help(
            """
            The command sends the recorded reports of every vendor and SDK through the broker and the worker. It checks
            each token by the rules of its vendor. It prints a row for each of the first five vendors, and the totals of
            all vendors. --all prints a row for each report. The exit code is 1 if a result differs from the recorded
            expectation.
            """,
            examples: """
                remint demo
                remint demo --dir shop --all
                """))

    @Flag(help: "Print a row for each report of every vendor.") var all = false
    @Flag(help: "Print the results as JSON, tokens included.") var json = false
    @Option(
        help: ArgumentHelp(
            "Folder in which the generated configuration, key rings, public keys and secrets stay.",
            valueName: "folder"))
    var dir: String?
    @Flag(help: "Look up every user first, at imitations of the vendors' REST APIs on ports of this machine.")
    var withLookups = false
    @Flag(help: "Send the reports by HTTP through the gateway, as devices do.") var pickup = false
    @Option(help: "Level of the worker's log on standard error: trace, debug, info, notice, warning or error.")
    var logLevel = "warning"

    func validate() throws {
        guard Configuration.Log.levels.contains(logLevel) else {
            throw ValidationError("--log-level is one of \(Configuration.Log.levels.joined(separator: ", "))")
        }
        guard !pickup || !withLookups else { throw ValidationError("--pickup and --with-lookups do not go together") }
    }

    func run() async throws {
        let log = Configuration.Log(level: logLevel, format: .text)
        let workspace = try DemoWorkspace(path: dir, at: CommandContext.current.now())
        defer { workspace.remove() }
        let vendors =
            withLookups
            ? try await DemoVendors(
                workspace.apps, keys: workspace.keys, folder: workspace.folder, now: CommandContext.current.now) : nil
        if let vendors { try workspace.configure(asking: vendors) }
        let results: [DemoResult]
        do {
            results = try await Demo(
                workspace: workspace, vendors: vendors, hasGateway: pickup, source: .system, logger: .remint(log),
                now: CommandContext.current.now
            ).run()
        } catch {
            await vendors?.stop()
            throw error
        }
        if json {
            printJSON(results)
        } else {
            all ? printTable(results) : printVendors(results)
            printTotals(results)
        }
        if let vendors, !json { printRequests(vendors) }
        await vendors?.stop()
        if let dir { Terminal.error("configuration, keys and public keys are in \(dir)") }
        if results.contains(where: { $0.problem != nil }) { throw ExitCode.failure }
    }

    private func printTable(_ results: [DemoResult]) {
        var table = TextTable("APP", "VENDOR", "SDK", "REPORTED", "OUTCOME", "ALG", "KEY ID", "EXPIRES", "VERDICT")
        for result in results {
            table.add(
                result.event.app.name, result.event.app.registration.vendor, result.event.sdk,
                result.event.reported, result.outcomeText, result.record?["algorithm"]?.string ?? "-",
                result.record?["key_id"]?.string ?? "-",
                result.record?["expires_at"]?.integer.map { UnixTime(seconds: $0).description } ?? "-",
                result.problem ?? result.verdict?.text ?? "-")
        }
        for line in table.lines { Terminal.print(line) }
    }

    /// The number of vendors with a row of their own.
    private static let shownVendors = 5

    private func printVendors(_ results: [DemoResult]) {
        let vendors = DemoVendorResults.all(results)
        var table = TextTable("VENDOR", "REPORTS", "TOKENS", "ACCEPTED", "SKIPPED", "DEAD LETTERS", "ONE TOKEN")
        for vendor in vendors.prefix(Self.shownVendors) {
            table.add(
                vendor.vendor, String(vendor.results.count), String(vendor.minted), String(vendor.accepted),
                String(vendor.skipped), String(vendor.deadLetters), vendor.example ?? "-")
        }
        for line in table.lines { Terminal.print(line) }
        let more = vendors.count - Self.shownVendors
        if more > 0 { Terminal.print("and \(more.of("more vendor")); every report: remint demo --all") }
        for result in results {
            guard let problem = result.problem else { continue }
            Terminal.print("not as expected: \(result.event.app.name), \(result.event.recording): \(problem)")
        }
    }

    private func printTotals(_ results: [DemoResult]) {
        let minted = results.count { $0.outcome == .minted }
        let accepted = results.count { $0.verdict == .accepted }
        let skipped = results.count { $0.outcome.name == "skipped" }
        Terminal.print("")
        Terminal.print(
            "\(results.count.of("report")): \(minted.of("token")) minted, \(accepted) accepted by the vendors' rules, \(skipped) skipped, \((results.count - minted - skipped).of("dead letter")), \(results.count { $0.problem != nil }) not as expected"
        )
    }

    private func printRequests(_ vendors: DemoVendors) {
        let counts = vendors.requests.map { "\($0.app) \($0.count)" }.joined(separator: ", ")
        Terminal.print("requests to the vendors' APIs: \(counts)")
    }

    private func printJSON(_ results: [DemoResult]) {
        var json = JSONWriter(capacity: results.count * 1024)
        json.beginArray()
        for result in results {
            json.beginObject()
            json.member("app", result.event.app.name)
            json.member("vendor", result.event.app.registration.name)
            json.member("sdk", result.event.sdk)
            json.member("fixture", result.event.recording)
            json.member("form", result.event.form.rawValue)
            json.member("reported", result.event.reported)
            json.member("outcome", result.outcome.name)
            if case .deadLettered(let code) = result.outcome { json.member("code", code.rawValue) }
            for name in ["algorithm", "key_id", "expires_at", "subject", "token"] {
                guard let value = result.record?[name] else { continue }
                json.name(name)
                json.raw(value.json)
            }
            if let verdict = result.verdict { json.member("verdict", verdict.text) }
            if let problem = result.problem { json.member("problem", problem) }
            json.endObject()
        }
        json.endArray()
        Terminal.print(json.printable)
    }
}
