import ArgumentParser

/// `remint keys`: a key ring's content and changes.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Makes, imports and lists keys, and changes what they may be used for.",
        discussion: .help(
            """
            A version is prepared (the vendor may have it; it does not sign), active (it signs; one is), passive (its tokens are
            good; it does not sign), retired or revoked. Workers see a change within a second. One operator at a time; every
            change is in the ring's audit.log before it is made.
            """,
            examples: """
                remint keys list --config remint.yaml
                remint keys generate --config remint.yaml --key shop
                """),
        subcommands: [
            KeysGenerate.self, KeysImport.self, KeysList.self, KeysPromote.self, KeysRetire.self, KeysRevoke.self,
            KeysRemove.self, KeysJWKS.self,
        ])
}
