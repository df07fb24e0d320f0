import AdapterKit
import ArgumentParser
import Formats
import Keyring
import Logging
import Operations
import WorkerConfiguration

/// The options of a campaign's pace.
struct CampaignPaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Percentage of each app's users for the canary, or 0 for no canary. These users get new tokens first, and \
            the command watches them. Default: 1 percent, and at least 20 users.
            """, valueName: "1"))
    var canary: Double?
    @Option(help: ArgumentHelp("Time to watch the canary, after its users got their tokens.", valueName: "5m"))
    var watch = "5m"
    @Option(
        help: ArgumentHelp(
            "Maximum time from the events until their tokens are published, for the canary and for the other users.",
            valueName: "10m"))
    var answerWithin = "10m"
    @Option(
        help: ArgumentHelp(
            """
            Limit for the canary's users whose tokens are rejected: a share such as 1%, or a number of users. A share \
            counts as exceeded only if the canary shows this with 95 % confidence.
            """, valueName: "1%"))
    var maxRejections = "1%"
    @OptionGroup var rate: RateOption
    @Option(help: "Number of events in a wave. Default: one wave for all events.") var wave: Int?
    @Option(help: ArgumentHelp("The pause between waves.", valueName: "10m")) var waveRest: String?
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?
    @Flag(help: "Print the progress as lines, one every five seconds, instead of a bar.") var progress = false

    func validate() throws {
        guard (0...100).contains(canary ?? 0) else { throw ValidationError("--canary is 0 to 100 percent") }
        let durations: [(String, String?)] = [
            ("watch", watch), ("answer-within", answerWithin), ("wave-rest", waveRest),
        ]
        for (name, text) in durations {
            guard text == nil || text.flatMap(DurationText.parse) != nil else {
                throw ValidationError("--\(name) is a duration such as 30s or 5m")
            }
        }
        guard RejectionLimit(maxRejections) != nil else {
            throw ValidationError("--max-rejections is a share such as 1% or 0.5%, or a number of users such as 3")
        }
        guard wave ?? 1 > 0 else { throw ValidationError("--wave is at least 1") }
    }

    private var terms: CampaignTerms {
        let rest = waveRest.flatMap(DurationText.parse).map { $0 / .seconds(1) }
        return CampaignTerms(
            canary: canary ?? 1, canaryUsers: canary == nil ? CanaryChoice.least : 1,
            watch: DurationText.parse(watch) ?? .seconds(300),
            answerWithin: DurationText.parse(answerWithin) ?? .seconds(600),
            maxRejections: RejectionLimit(maxRejections) ?? .standard,
            pace: ReissuePace(rate: rate.perSecond, wave: wave, rest: rest ?? 0))
    }

    /// Re-issues the tokens of `campaign` and reports the outcome.
    func reissue(for campaign: Campaign) async throws {
        let configuration = campaign.ring.configuration
        let name = campaign.ring.ring.name
        let reissue = CampaignReissue(
            campaign: campaign, terms: terms, brokers: try configuration.brokers(instead: brokers),
            logger: .quiet(configuration.log), display: ProgressLines.display(asLines: progress),
            note: { Terminal.error("remint: \(name): \($0)") })
        let before = try campaign.load()
        let result: CampaignReissue.Result
        do { result = try await reissue.run() } catch {
            // An operator who stops a leak must know how much of it is left. These errors state it themselves, or
            // nothing has begun.
            guard before.kind == .revocation, !(error is CampaignStopped), !(error is RotationError) else {
                throw error
            }
            Terminal.error("remint: \(name): \(await reissue.interruption(of: before, by: error))")
            throw error
        }
        switch result {
        case .paused: throw try await reissue.stop(of: before)
        case .reissued(let report):
            show(report, try campaign.load(), campaign.ring)
            if before.kind == .revocation { try campaign.ring.requireRevokedEverywhere() }
        }
    }

    private func show(_ report: CampaignReissue.Report, _ rotation: Rotation, _ ring: RingInUse) {
        let name = ring.ring.name
        let before =
            report.sentBefore > 0 ? ", \(report.sentBefore) \(report.sentBefore == 1 ? "was" : "were") sent before" : ""
        Terminal.print(
            "\(name): \(report.sent.of("event")) sent\(before), \(report.rejected.of("subject")) left to end by \(report.rejected == 1 ? "itself" : "themselves")"
        )
        let holdings = report.holdings
        let live = holdings.live.of("live token")
        let reasons = holdings.reasons.isEmpty ? "" : " (\(holdings.reasons))"
        Terminal.print("\(name): the ledger shows \(live) of \(holdings.names)\(reasons)")
        Terminal.print(ring.unknowable(of: rotation.from, replacedBy: rotation.to))
        Terminal.print("Then: \(RemintCommand("rotate status")), and \(RemintCommand("rotate retire"))")
    }
}

/// `remint rotate reissue`.
struct RotateReissue: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "reissue", abstract: "Re-issues tokens for all users who hold a token of the old version.",
        discussion: .help(
            """
            The first users are the canary. It consists of users with a live token, from each app of the ring, because
            only a device that comes back reports a refusal. After the canary, the users whose tokens expire soonest
            come first.

            The canary is answered when the token topic has a token of the new version for each of its users. Then the
            command watches the canary, each app by itself. The campaign pauses if users of the canary get no token
            within --answer-within. It also pauses if too many of them (--max-rejections) have their tokens rejected, or
            report again after they got the new token. Then the command prints the number of these users and the reason,
            and exits with 1. --canary 0 drops a canary that the command would watch again.

            After all events, the command reads the ledger again. The campaign is reissued when the ledger shows no old
            token that re-issuing could replace. You can stop the command and run it again at any time. The command does
            not re-issue tokens that answer a challenge: these tokens expire by themselves.
            """,
            examples: """
                remint rotate reissue --config remint.yaml --key shop
                remint rotate reissue --config remint.yaml --key shop --canary 5 --rate 200
                """))

    @OptionGroup var ring: KeyRingOptions
    @OptionGroup var pace: CampaignPaceOptions
    var brokers: String? { pace.brokers }

    func run() async throws {
        let ring = try ring.load()
        try await pace.reissue(for: Campaign(ring: ring))
    }
}
