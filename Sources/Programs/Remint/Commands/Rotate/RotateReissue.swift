import ArgumentParser
import Operations

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
