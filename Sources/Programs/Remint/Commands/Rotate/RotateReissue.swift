import ArgumentParser
import Operations

/// `remint rotate reissue`.
struct RotateReissue: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "reissue", abstract: "New tokens for everyone who holds one of the old version.",
        discussion: .help(
            """
            The canary is made of users with a live token, of each app of the ring, for only a device that comes back reports a
            refusal; then come the users whose token ends first. The canary is answered once the token topic holds a token of the
            new version for each of its users; then it is watched, each app by itself. Where its users get no token within
            --answer-within, or more of them than --max-rejections have their tokens rejected or report once they have one, the
            campaign pauses by itself, and this command prints how many and why and exits with 1. --canary 0 drops a canary that is
            to be watched again. After all events the ledger is read again: the campaign is reissued
            once it shows nobody who can still be asked for. The command can be stopped and run again at any time. Tokens that
            answer a challenge are not re-issued: they end by themselves.
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
