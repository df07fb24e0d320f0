import AdapterKit
import ArgumentParser
import Logging
import Operations
import WorkerConfiguration

/// How a campaign re-issues.
struct CampaignPaceOptions: ParsableArguments {
    @Option(help: "The part that goes first and is watched, in percent; 0 for none.") var canary = 1.0
    @Option(help: ArgumentHelp("How long the canary is watched once it is answered.", valueName: "5m")) var watch = "5m"
    @Option(help: "How many of the canary's users may have their tokens rejected. Default: 1 in 100.")
    var maxRejections: Int?
    @Option(help: "Events a second; 0 for as fast as they can be delivered.") var rate = 500.0
    @Option(help: "Events of a wave. Default: one wave.") var wave: Int?
    @Option(help: ArgumentHelp("How long to rest between waves.", valueName: "10m")) var waveRest: String?
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

    func validate() throws {
        guard (0...100).contains(canary) else { throw ValidationError("--canary is 0 to 100 percent") }
        guard DurationText.parse(watch) != nil else { throw ValidationError("--watch is a duration such as 30s or 5m") }
        guard rate >= 0, rate.isFinite else { throw ValidationError("--rate is 0 or more") }
        guard waveRest == nil || waveRest.flatMap(DurationText.parse) != nil else {
            throw ValidationError("--wave-rest is a duration such as 30s or 10m")
        }
    }

    private var terms: CampaignReissue.Terms {
        let rest = waveRest.flatMap(DurationText.parse).map { $0 / .seconds(1) }
        return CampaignReissue.Terms(
            canary: canary, watch: DurationText.parse(watch) ?? .seconds(300), maxRejections: maxRejections,
            pace: ReissuePace(rate: rate > 0 ? rate : nil, wave: wave, rest: rest ?? 0))
    }

    /// Re-issues the tokens of `campaign` and says what came of it.
    func reissue(for campaign: Campaign) async throws {
        let configuration = campaign.ring.configuration
        let reissue = CampaignReissue(
            campaign: campaign, terms: terms, brokers: try configuration.brokers(instead: brokers),
            logger: .quiet(configuration.log), display: ProgressLine())
        let name = campaign.ring.ring.name
        switch try await reissue.run() {
        case .paused: Terminal.print("\(name): paused; go on with: remint rotate resume")
        case .reissued(let sent, let rejected):
            Terminal.print("\(name): \(sent) events sent, \(rejected) subjects left to end by themselves")
            Terminal.print("Then: remint rotate status, and remint rotate retire")
        }
    }
}
