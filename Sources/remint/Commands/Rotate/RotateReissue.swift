import ArgumentParser
import Operations

/// `remint rotate reissue`.
struct RotateReissue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reissue", abstract: "New tokens for everyone who holds one of the old version.",
        discussion: """
            Those whose token ends first come first. The canary is answered and watched before the rest is sent; where the
            vendor rejects its tokens, the campaign pauses by itself and this command ends with 1. It can be stopped and run
            again at any time. Tokens that answer a challenge are not re-issued: they end by themselves.
            """)

    @OptionGroup var ring: KeyRingOptions
    @OptionGroup var pace: CampaignPaceOptions

    func run() async throws {
        let ring = try ring.load()
        try await pace.reissue(for: Campaign(ring: ring))
    }
}
