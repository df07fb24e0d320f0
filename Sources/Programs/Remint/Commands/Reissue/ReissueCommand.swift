import AdapterKit
import ArgumentParser
import Formats
import Foundation
import JOSE
import Logging
import Operations
import Pipeline
import Worker
import WorkerConfiguration

/// `remint reissue`: new tokens for many users.
struct ReissueCommand: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "reissue", abstract: "Re-issues tokens for many users, on the bulk lane.",
        discussion: .help(
            """
            The users come from a file or from the ledger. The file is CSV with a header row, or JSON Lines, with or
            without gzip. From the ledger, the users whose tokens expire soonest come first.

            The checkpoint records the events that the job has delivered, and the events that it is about to send. If a
            job was killed, run the same command again: the job continues from the checkpoint. It sends those events of
            the last batch again that are not on the bulk lane, with the same event ids and the header remint-resent. If
            you run a finished ledger job again, it reads the ledger again. A job that finds no users leaves no
            checkpoint.

            The command refuses a version that neither a ring nor the ledger knows, and lists the versions in the
            ledger. For a revoked version, it prints how to check that no live token is left. The file …rejects.jsonl
            next to the checkpoint lists each unusable row with its line and the reason.

            The exit code is 1 if an open transaction hid a part of the ledger: the users of this part got no event. It
            is 75 if the brokers failed, or if another process uses the checkpoint.
            """,
            examples: """
                remint reissue --config remint.yaml --app web --input users.csv --dry-run
                remint reissue --config remint.yaml --ledger --key shop --rate 200
                """))

    @OptionGroup var options: ConfigurationOptions
    @Option(help: ArgumentHelp("File with the users.", valueName: "users.csv|users.jsonl")) var input: String?
    @Flag(help: "Re-issue for the users who have a live token.") var ledger = false
    @Option(help: "The app. Required with --input.") var app: String?
    @Option(name: .shortAndLong, help: "With --ledger: only tokens of this key ring, and tokens whose ring is unknown.")
    var key: String?
    @Option(help: "With --ledger: only tokens of this version of the key.") var keyID: String?
    @Option(help: ArgumentHelp("With --ledger: only tokens that expire within this time.", valueName: "1h"))
    var expiringWithin: String?
    @Option(help: "Format of the file: csv or jsonl. Default: by the file's name.") var format: UserInput.Format?
    @Option(
        help: "Column or JSON member with the user. Repeat the option if the vendor identifies users by several ids.")
    var userColumn: [String] = []
    @Option(help: "Separator of the fields in CSV.") var delimiter = ","
    @OptionGroup var rate: RateOption
    @Option(help: "Share by which the time between batches varies, from 0 to 1.") var jitter = 0.2
    @Option(help: "Number of events in a wave. Default: one wave for all events.") var wave: Int?
    @Option(help: ArgumentHelp("The pause between waves.", valueName: "10m")) var waveRest: String?
    @Option(
        help: ArgumentHelp(
            "File of the checkpoint. Default: INPUT.reissue.json, or reissue-….json with --ledger.", valueName: "file"))
    var state: String?
    @Flag(help: "Print the number of events, and the estimated cost and duration. Send nothing.") var dryRun = false
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?
    @Flag(help: "Print the progress as lines, one every five seconds, instead of a bar.") var watch = false
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard (input != nil) != ledger else { throw ValidationError("give either --input or --ledger") }
        guard input == nil || app != nil else { throw ValidationError("--input needs its --app") }
        guard key == nil || ledger else { throw ValidationError("--key is for --ledger") }
        guard (0...1).contains(jitter) else { throw ValidationError("--jitter is 0 to 1") }
        guard wave ?? 1 > 0 else { throw ValidationError("--wave is at least 1") }
        guard delimiter.utf8.count == 1 else { throw ValidationError("--delimiter is one character, such as ; or ,") }
        if let input, format == nil, Self.format(of: input) == nil {
            throw ValidationError("the name of \(input) has no known ending; add --format csv or --format jsonl")
        }
    }

    func run() async throws {
        let configuration = try options.loadConfiguration()
        let setup = try ReissueSetup(self, configuration)
        if let doubt = setup.doubt { Terminal.error("remint: warning: \(doubt)") }
        guard !dryRun else { return try await estimate(setup) }
        let lock = try ReissueLock(setup.files.lock, at: CommandContext.current.now())
        defer { withExtendedLifetime(lock) {} }
        var progress = try setup.files.load() ?? setup.begin()
        guard setup.isOwn(progress) else {
            throw InputUnreadable(
                path: setup.files.state,
                reason:
                    "it is the checkpoint of another input or another configuration, or the content of the input changed; name another --state, or restore the input"
            )
        }
        if ledger, progress.isFinished {
            // The users of that run may hold a live token again, or still.
            Terminal.error("remint: the last run of this job is done; reading the ledger again")
            progress = setup.begin()
        }
        let before = progress.sent
        if progress.isFinished {
            Terminal.error("remint: this job is done; remove \(setup.files.state) to run it again")
        } else {
            if progress.rows > 0 { Terminal.error("remint: goes on behind row \(progress.rows)") }
            guard try await setup.prepareInput(&progress) else { return report(progress, sentBefore: before, setup) }
            let source = try setup.open()
            let job = ReissueJob(
                configuration: configuration, app: setup.app, files: setup.files, pace: setup.pace,
                total: try setup.count(),
                lane: {
                    try KafkaBulkLane(
                        configuration, brokers: setup.brokers, logger: Logger.quiet(configuration.log))
                }, display: ProgressLines.display(asLines: watch), now: CommandContext.current.now)
            _ = try await job.run(&progress, next: source)
            // It holds the ids of all users, and another run of the job reads the ledger again.
            if ledger, progress.isFinished { _ = unlink(setup.files.subjects) }
        }
        report(progress, sentBefore: before, setup)
        if let omission = setup.omission(of: progress) { throw omission }
    }

    static func format(of path: String) -> UserInput.Format? {
        let name = path.hasSuffix(".gz") ? path.dropLast(3) : path[...]
        if name.hasSuffix(".csv") { return .csv }
        return name.hasSuffix(".jsonl") || name.hasSuffix(".ndjson") ? .jsonl : nil
    }

    private func report(_ progress: ReissueProgress, sentBefore before: Int, _ setup: ReissueSetup) {
        defer { if let verification = setup.verification { Terminal.error("remint: \(verification)") } }
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("job", progress.job)
            writer.member("rows", Int64(progress.rows))
            writer.member("sent", Int64(progress.sent))
            writer.member("sent_before", Int64(before))
            writer.member("rejected", Int64(progress.rejected))
            if progress.rows > 0 || progress.isFinished { writer.member("checkpoint", setup.files.state) }
            writer.endObject()
            Terminal.print(writer.printable)
            return
        }
        let earlier = before > 0 ? ", \(before) were sent before," : ""
        Terminal.print(
            "\((progress.sent - before).of("event")) sent\(earlier) of \(progress.rows.of("row")); \(progress.rejected) rejected"
        )
        if progress.rejected > 0 { Terminal.print("the rejected rows: \(setup.files.rejects)") }
    }

    /// Returns `seconds` as a whole number, at most as many as a duration has.
    private static func whole(_ seconds: Double) -> Int64 { Int64(min(seconds, 31_536_000_000).rounded(.up)) }

    /// Counts the events that the job would send, and prints their cost.
    private func estimate(_ setup: ReissueSetup) async throws {
        var counts: [String: Int] = [:]
        var rejected = 0
        try await setup.each { item, problem in
            if problem == nil, let app = item.app ?? setup.app {
                counts[app.name, default: 0] += 1
            } else {
                rejected += 1
            }
        }
        let total = counts.values.reduce(0, +)
        var seconds = 0.0
        var lines: [(app: String, count: Int, algorithm: Algorithm, perSecond: Double)] = []
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
            guard let app = setup.configuration.apps.first(where: { $0.name == name }) else { continue }
            let speed = try await SigningEstimate(app.adapter.algorithm)
            seconds += Double(count) / max(1, speed.perSecond)
            lines.append((name, count, app.adapter.algorithm, speed.perSecond))
        }
        let waves = setup.pace.wave.map { max(0, (total - 1) / $0) } ?? 0
        let sending = (setup.pace.rate.map { Double(total) / $0 } ?? 0) + Double(waves) * setup.pace.rest
        let eta = Self.whole(max(seconds, sending))
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("events", Int64(total))
            writer.member("rejected", Int64(rejected))
            writer.member("signing_seconds", Self.whole(seconds))
            writer.member("sending_seconds", Self.whole(sending))
            writer.member("seconds", eta)
            writer.endObject()
            return Terminal.print(writer.printable)
        }
        for line in lines {
            Terminal.print(
                "\(line.app): \(line.count.of("event")); \(line.algorithm.rawValue) signs \(Int(line.perSecond)) a second on this machine"
            )
        }
        Terminal.print("\(total.of("event")), \(rejected.of("row")) rejected; nothing is sent")
        Terminal.print(
            "about \(DurationText.format(seconds: eta)): signing alone \(DurationText.format(seconds: Self.whole(seconds))) on one such machine, sending \(DurationText.format(seconds: Self.whole(sending)))"
        )
    }
}

extension UserInput.Format: ExpressibleByArgument {}

/// `--rate`, the pace of a job.
struct RateOption: ParsableArguments {
    @Option(help: "Number of events per second, from 0.001 to 1000000; 0 for no limit.") var rate = 500.0

    func validate() throws {
        guard rate == 0 || ReissuePace.rates.contains(rate) else {
            throw ValidationError("--rate is 0, or 0.001 to 1000000 events a second")
        }
    }

    /// The rate; nil for as fast as events can be delivered.
    var perSecond: Double? { rate > 0 ? rate : nil }
}
