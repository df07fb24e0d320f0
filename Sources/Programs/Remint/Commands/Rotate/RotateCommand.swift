import ArgumentParser
import WorkerConfiguration

/// `remint rotate`: a key's replacement as a campaign.
struct RotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replaces a key: prepare, promote, re-issue, retire.",
        discussion: .help(
            """
            The replacement of a key is a campaign. The campaign's file, checkpoint, events and audit lines contain its
            id. The state of the campaign is in the ring's folder, so you can repeat every step after a crash, and the
            step continues. Each step uses the states in the ring. The command refuses a step if these states disagree
            with the campaign.

              remint rotate prepare    adds a new version, which you give to the vendor
              remint rotate promote    makes it sign, after publish_window
              remint rotate reissue    re-issues the users' tokens, a canary first
              remint rotate retire     retires the old version, if no live token is left

            The step promote proves that the workers sign with the new version. A passed canary proves that its users'
            tokens were published, and that the vendor rejected no more of them than --max-rejections. The step reissue
            proves that the ledger shows no old token that re-issuing could replace. The step retire proves that the
            ledger shows no live token of the old version. The ledger cannot show which token a device still holds.
            """,
            examples: """
                remint rotate prepare --config remint.yaml --key shop
                remint rotate status --config remint.yaml --key shop
                """),
        subcommands: [
            RotatePrepare.self, RotatePromote.self, RotateReissue.self, RotateStatus.self, RotatePause.self,
            RotateResume.self, RotateAbort.self, RotateRetire.self, RotateRevoke.self,
        ])
}
