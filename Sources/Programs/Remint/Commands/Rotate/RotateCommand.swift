import ArgumentParser
import WorkerConfiguration

/// `remint rotate`: a key's replacement as a campaign.
struct RotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replaces a key: prepare, promote, re-issue, retire.",
        discussion: .help(
            """
            A campaign has an id, which its file, its checkpoint, its events and its audit lines name. Its state is in the ring's
            folder: every step can be repeated after a crash, goes on where it was, judges by the ring's states, and is refused
            where they disagree with the campaign.

              remint rotate prepare    a new version; the vendor gets it
              remint rotate promote    it signs, once publish_window is over
              remint rotate reissue    new tokens for its users, a canary first
              remint rotate retire     the end of the old version, once no token lives

            What each step proves: promote, that the workers sign with the new version; a passed canary, that its users' tokens
            were published and that the vendor did not reject more of them than --max-rejections; reissue, that the ledger shows
            nobody with an old token who can be asked for; retire, that the ledger shows no live token of the old version. What a
            device still holds is in no ledger.
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
