import AdapterKit
import ArgumentParser
import Foundation
import JOSE
import Operations
import Pipeline
import Worker
import WorkerConfiguration

/// `remint apps`: which apps' events wait, and the commands that make them wait and go on.
struct AppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Lists apps with their suspensions and pauses, and pauses or resumes apps.",
        discussion: .help(
            """
            Suspensions and pauses are on the control topic, for every worker of the fleet. The events of a suspended or
            paused app wait in the retry tiers for up to worker.retries.deadline. With --worker, list and resume ask the
            admin servers of running workers instead.
            """,
            examples: """
                remint apps list --config remint.yaml
                remint apps pause web --config remint.yaml --for 30m
                """), subcommands: [AppsList.self, AppsPause.self, AppsResume.self], defaultSubcommand: AppsList.self)
}

/// The options that select the brokers or the workers to ask.
struct WorkerOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?
    @Option(
        name: .customLong("worker"),
        help: ArgumentHelp(
            "Address of a worker's admin server, to use instead of the brokers. Repeat the option for several workers.",
            valueName: "host:port"))
    var workers: [String] = []

    /// Returns clients of the named workers' admin servers, with the configured token.
    func clients() throws -> [AdminClient] {
        let token = try options.loadConfiguration().admin?.tokenFile.map { file in
            do throws(GuardedFileError) { return try GuardedFile.read(file).trimmingLineEnd() } catch {
                throw ValidationError("the file of admin.token_file \(error.path) \(error.message)")
            }
        }.flatMap { unsafe $0.withBytes { unsafe String(validating: $0, as: UTF8.self) } }
        return workers.map { AdminClient(address: $0, token: token) }
    }

    /// Returns the control topic, and the configuration that names it.
    func control() throws -> (states: ControlStates, configuration: Configuration) {
        try options.control(at: brokers)
    }
}

/// `remint apps list`.
struct AppsList: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the apps and their states. This is the default command.",
        discussion: .help(
            examples: """
                remint apps list --config remint.yaml
                remint apps --config remint.yaml --json
                """))

    @OptionGroup var workers: WorkerOptions
    var options: ConfigurationOptions { workers.options }
    var brokers: String? { workers.brokers }
    @Flag(help: "Print the apps as JSON.") var json = false

    func run() async throws { try await workers.workers.isEmpty ? listControl() : listWorkers() }

    private func listControl() async throws {
        let (states, configuration) = try workers.control()
        let held = try await states.readOrTryLater().apps
        var table = TextTable(
            "APP", "ADAPTER", "KEY RING", "STATE", "SINCE", "UNTIL", "BY", "USERS", "KEY VERSION", "WHY")
        var writer = JSONWriter()
        writer.beginArray()
        for app in configuration.apps {
            let suspension = held[app.name]
            table.add(
                app.name, app.adapter.name, app.key, suspension?.cause.rawValue ?? "active",
                suspension?.since.description ?? "-", suspension?.until?.description ?? "-", suspension?.by ?? "-",
                suspension.map { String($0.users) } ?? "-", suspension?.keyVersion ?? "-", suspension?.why ?? "-")
            writer.beginObject()
            writer.member("app", app.name)
            writer.member("adapter", app.adapter.name)
            writer.member("key_ring", app.key)
            writer.member("state", suspension?.cause.rawValue ?? "active")
            if let suspension {
                if suspension.cause == .suspended { writer.member("reach", suspension.reach.rawValue) }
                writer.member("suspended_since", suspension.since.description)
                if let until = suspension.until { writer.member("suspended_until", until.description) }
                writer.member("refusing_users", Int64(suspension.users))
                if let version = suspension.keyVersion { writer.member("refused_key_version", version) }
                writer.member("by", suspension.by)
                writer.member("why", suspension.why)
            }
            writer.endObject()
        }
        writer.endArray()
        show(table, writer)
    }

    private func listWorkers() async throws {
        var table = TextTable("WORKER", "APP", "ADAPTER", "KEY RING", "KEY VERSION", "STATE", "SINCE", "USERS")
        var writer = JSONWriter()
        writer.beginArray()
        for client in try workers.clients() {
            for app in try await apps(of: client) {
                func text(_ name: String) -> String { app[name]?.string ?? "-" }
                table.add(
                    client.address, text("app"), text("adapter"), text("key_ring"), text("key_version"), text("state"),
                    text("suspended_since"), app["refusing_users"]?.integer.map(String.init) ?? "-")
                writer.beginObject()
                writer.member("worker", client.address)
                for member in app.members {
                    writer.name(member.name)
                    writer.raw(member.value.json)
                }
                writer.endObject()
            }
        }
        writer.endArray()
        show(table, writer)
    }

    private func show(_ table: TextTable, _ writer: JSONWriter) {
        if json {
            Terminal.print(writer.printable)
        } else {
            for line in table.lines { Terminal.print(line) }
        }
    }

    private func apps(of client: AdminClient) async throws -> [JSONValue] {
        do {
            return try await client.send("GET", "/apps").body?["apps"]?.elements ?? []
        } catch let error as AdminError {
            Terminal.error("remint: \(error)")
            throw ExitCode(75)
        }
    }
}

/// `remint apps pause APP...`.
struct AppsPause: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pauses apps on every worker, until `apps resume`. Their events wait.",
        discussion: .help(
            "The exit code is 1 if one of the apps is already paused. The command still pauses the other apps.",
            examples: """
                remint apps pause web --config remint.yaml --for 30m
                remint apps pause web ios --config remint.yaml --reason OPS-7
                """))

    @OptionGroup var workers: WorkerOptions
    var options: ConfigurationOptions { workers.options }
    var brokers: String? { workers.brokers }
    @OptionGroup var pause: PauseOptions
    @Argument(help: "The apps.") var apps: [String]

    func validate() throws {
        guard workers.workers.isEmpty else {
            throw ValidationError("a pause is for the whole fleet; leave --worker out")
        }
    }

    func run() async throws {
        let (states, configuration) = try workers.control()
        for app in apps { _ = try workers.options.app(app, in: configuration) }
        let held = try await states.readOrTryLater().apps
        let (already, others) = apps.partitioned { held[$0]?.cause == .paused }
        let now = UnixTime(seconds: CommandContext.current.now().seconds)
        let until = pause.until(from: now)
        let words = others.map { app in
            states.word(
                on: app,
                Suspension(app: app, cause: .paused, since: now, by: pause.author, why: pause.reason, until: until))
        }
        try await states.writeOrTryLater(words)
        for app in others { Terminal.print("\(app): paused\(until.map { " until \($0)" } ?? "")") }
        for app in already { Terminal.error("remint: \(app) is paused already") }
        if !already.isEmpty { throw ExitCode.failure }
    }
}

/// `remint apps resume APP...`.
struct AppsResume: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Ends the suspensions and pauses of apps, on every worker.",
        discussion: .help(
            """
            The exit code is 1 if one of the apps is neither suspended nor paused. The command still resumes the other
            apps.
            """,
            examples: """
                remint apps resume web --config remint.yaml
                remint apps resume web ios --config remint.yaml
                """))

    @OptionGroup var workers: WorkerOptions
    var options: ConfigurationOptions { workers.options }
    var brokers: String? { workers.brokers }
    @Argument(help: "The apps.") var apps: [String]

    func run() async throws {
        guard workers.workers.isEmpty else {
            var isAll = true
            for app in apps where !(try await resumeOnWorkers(app)) { isAll = false }
            if !isAll { throw ExitCode.failure }
            return
        }
        let (states, configuration) = try workers.control()
        for app in apps { _ = try workers.options.app(app, in: configuration) }
        let held = try await states.readOrTryLater().apps
        let (waiting, others) = apps.partitioned { held[$0] != nil }
        try await states.writeOrTryLater(waiting.map { states.word(on: $0, nil as Suspension?) })
        for suspension in waiting.compactMap({ held[$0] }) {
            Terminal.print("\(suspension.app): resumed; it was \(suspension.cause.rawValue) since \(suspension.since)")
        }
        for app in others { Terminal.error("remint: \(app) is neither suspended nor paused") }
        if !others.isEmpty { throw ExitCode.failure }
    }

    /// - Returns: whether any of the named workers resumed it.
    private func resumeOnWorkers(_ app: String) async throws -> Bool {
        var resumed = 0
        for client in try workers.clients() {
            do {
                let name = app.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? app
                let (status, body) = try await client.send("POST", "/apps/resume?app=\(name)")
                if status == 202 { resumed += 1 }
                Terminal.print(
                    "\(client.address): \(body?["state"]?.string ?? body?["error"]?.string ?? "HTTP \(status)")")
            } catch let error as AdminError {
                Terminal.error("remint: \(error)")
                throw ExitCode(75)
            }
        }
        return resumed > 0
    }
}
