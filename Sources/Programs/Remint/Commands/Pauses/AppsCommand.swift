import AdapterKit
import ArgumentParser
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
            paused app wait in the retry tiers for up to worker.retries.deadline.
            """,
            examples: """
                remint apps list --config remint.yaml
                remint apps pause web --config remint.yaml --for 30m
                """), subcommands: [AppsList.self, AppsPause.self, AppsResume.self], defaultSubcommand: AppsList.self)
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

    @OptionGroup var fleet: FleetOptions
    var options: ConfigurationOptions { fleet.options }
    var brokers: String? { fleet.brokers }
    @Flag(help: "Print the apps as JSON.") var json = false

    func run() async throws {
        let (states, configuration) = try fleet.control()
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
        if json { return Terminal.print(writer.printable) }
        for line in table.lines { Terminal.print(line) }
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

    @OptionGroup var fleet: FleetOptions
    var options: ConfigurationOptions { fleet.options }
    var brokers: String? { fleet.brokers }
    @OptionGroup var pause: PauseOptions
    @Argument(help: "The apps.") var apps: [String]

    func run() async throws {
        let (states, configuration) = try fleet.control()
        for app in apps { _ = try fleet.options.app(app, in: configuration) }
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

    @OptionGroup var fleet: FleetOptions
    var options: ConfigurationOptions { fleet.options }
    var brokers: String? { fleet.brokers }
    @Argument(help: "The apps.") var apps: [String]

    func run() async throws {
        let (states, configuration) = try fleet.control()
        for app in apps { _ = try fleet.options.app(app, in: configuration) }
        let held = try await states.readOrTryLater().apps
        let (waiting, others) = apps.partitioned { held[$0] != nil }
        try await states.writeOrTryLater(waiting.map { states.word(on: $0, nil as Suspension?) })
        for suspension in waiting.compactMap({ held[$0] }) {
            Terminal.print("\(suspension.app): resumed; it was \(suspension.cause.rawValue) since \(suspension.since)")
        }
        for app in others { Terminal.error("remint: \(app) is neither suspended nor paused") }
        if !others.isEmpty { throw ExitCode.failure }
    }
}
