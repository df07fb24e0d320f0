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

/// `remint lanes`: which lanes rest, and the commands that make them rest and go on.
struct LanesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lanes", abstract: "Lists lanes with their pauses, and pauses or resumes lanes.",
        discussion: .help(
            """
            Pauses are on the control topic, for every worker of the fleet and for workers that start later. Workers
            finish the events in progress of a paused lane, but consume nothing new from it. The lane's offsets do not
            move, so its lag grows.
            """,
            examples: """
                remint lanes list --config remint.yaml
                remint lanes pause bulk --config remint.yaml --for 2h
                """), subcommands: [LanesList.self, LanesPause.self, LanesResume.self],
        defaultSubcommand: LanesList.self)
}

extension Lane {
    /// Returns the lane that an operator names.
    ///
    /// - Throws: `ValidationError` that names the lanes.
    static func named(_ text: String) throws -> Lane {
        guard let lane = Lane(rawValue: text) else {
            throw ValidationError("a lane is one of \(Lane.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return lane
    }
}

/// The fleet that is meant.
struct FleetOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?

    /// Returns the control topic, and the configuration that names it.
    func control() throws -> (states: ControlStates, configuration: Configuration) {
        let configuration = try options.loadConfiguration()
        let brokers = try configuration.brokers(instead: brokers)
        return (ControlStates(configuration, brokers: brokers, logger: .quiet(configuration.log)), configuration)
    }
}

/// `remint lanes list`.
struct LanesList: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the lanes and their states. This is the default command.",
        discussion: .help(
            examples: """
                remint lanes list --config remint.yaml
                remint lanes --config remint.yaml --json
                """))

    @OptionGroup var fleet: FleetOptions
    var options: ConfigurationOptions { fleet.options }
    var brokers: String? { fleet.brokers }
    @Flag(help: "Print the lanes as JSON.") var json = false

    func run() async throws {
        let held = try await fleet.control().states.readOrTryLater().lanes
        var table = TextTable("LANE", "STATE", "SINCE", "UNTIL", "BY", "WHY")
        var writer = JSONWriter()
        writer.beginArray()
        for lane in Lane.allCases {
            let pause = held[lane]
            table.add(
                lane.rawValue, pause == nil ? "active" : "paused", pause?.since.description ?? "-",
                pause?.until?.description ?? "-", pause?.by.printable(limit: 40) ?? "-", pause?.why.printable() ?? "-")
            writer.beginObject()
            writer.member("lane", lane.rawValue)
            writer.member("state", pause == nil ? "active" : "paused")
            pause?.write(to: &writer)
            writer.endObject()
        }
        writer.endArray()
        if json { return Terminal.print(writer.printable) }
        for line in table.lines { Terminal.print(line) }
    }
}

/// `remint lanes pause LANE...`.
struct LanesPause: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pauses lanes on every worker, until `lanes resume`.",
        discussion: .help(
            "The exit code is 1 if one of the lanes is already paused. The command still pauses the other lanes.",
            examples: """
                remint lanes pause bulk --config remint.yaml --for 2h
                remint lanes pause live bulk --config remint.yaml --reason OPS-7
                """))

    @OptionGroup var fleet: FleetOptions
    var options: ConfigurationOptions { fleet.options }
    var brokers: String? { fleet.brokers }
    @OptionGroup var pause: PauseOptions
    @Argument(help: "The lanes: live, retries, bulk.", transform: Lane.named) var lanes: [Lane]

    func run() async throws {
        let states = try fleet.control().states
        let held = try await states.readOrTryLater().lanes
        let (already, others) = lanes.partitioned { held[$0] != nil }
        let now = UnixTime(seconds: CommandContext.current.now().seconds)
        let until = pause.until(from: now)
        let words = others.map { lane in
            states.word(
                on: lane, LanePause(lane: lane, since: now, by: pause.author, why: pause.reason, until: until))
        }
        try await states.writeOrTryLater(words)
        for lane in others { Terminal.print("\(lane.rawValue): paused\(until.map { " until \($0)" } ?? "")") }
        for lane in already { Terminal.error("remint: the \(lane.rawValue) lane is paused already") }
        if !already.isEmpty { throw ExitCode.failure }
    }
}

/// `remint lanes resume LANE...`.
struct LanesResume: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resumes lanes on every worker.",
        discussion: .help(
            "The exit code is 1 if one of the lanes is not paused. The command still resumes the other lanes.",
            examples: """
                remint lanes resume bulk --config remint.yaml
                remint lanes resume live bulk --config remint.yaml
                """))

    @OptionGroup var fleet: FleetOptions
    var options: ConfigurationOptions { fleet.options }
    var brokers: String? { fleet.brokers }
    @Argument(help: "The lanes: live, retries, bulk.", transform: Lane.named) var lanes: [Lane]

    func run() async throws {
        let states = try fleet.control().states
        let held = try await states.readOrTryLater().lanes
        let (resting, others) = lanes.partitioned { held[$0] != nil }
        try await states.writeOrTryLater(resting.map { states.word(on: $0, nil as LanePause?) })
        for pause in resting.compactMap({ held[$0] }) {
            Terminal.print("\(pause.lane.rawValue): resumed; it was paused since \(pause.since)")
        }
        for lane in others { Terminal.error("remint: the \(lane.rawValue) lane is not paused") }
        if !others.isEmpty { throw ExitCode.failure }
    }
}

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
