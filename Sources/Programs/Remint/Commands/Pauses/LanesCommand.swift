import AdapterKit
import ArgumentParser
import Operations
import Pipeline
import Worker
import WorkerConfiguration

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
