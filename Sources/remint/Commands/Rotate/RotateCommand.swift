import ArgumentParser
import WorkerConfiguration

/// `remint rotate`: a key's replacement as a campaign.
struct RotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replaces a key: prepare, promote, re-issue, retire.",
        discussion: """
            The campaign's state stands in the ring's folder, so that every step can be repeated after a crash and goes on where
            it was; each is a line in the ring's audit.log.

              remint rotate prepare    a new version; the vendor gets it
              remint rotate promote    it signs, once it was prepared for the app's publish_window
              remint rotate reissue    new tokens for everyone who holds one of the old version, a canary first
              remint rotate retire     the end of the old version, once no token of it lives
            """,
        subcommands: [
            RotatePrepare.self, RotatePromote.self, RotateReissue.self, RotateStatus.self, RotatePause.self,
            RotateResume.self, RotateAbort.self, RotateRetire.self, RotateRevoke.self,
        ])
}
