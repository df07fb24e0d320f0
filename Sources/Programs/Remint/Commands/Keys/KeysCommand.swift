import ArgumentParser

/// `remint keys`: a key ring's content and changes.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Makes, imports, lists and removes keys.",
        discussion: .help(
            """
            A version of a key has one of these states:

              prepared    does not sign; the vendor may already have it
              active      signs; one version of a ring is active
              passive     does not sign; its tokens are valid
              retired     out of use
              revoked     compromised, and out of use

            remint rotate changes the states. Workers apply a change within a second. Only one operator can change a ring
            at a time. Each command writes a change to the ring's audit.log before it makes the change.
            """,
            examples: """
                remint keys list --config remint.yaml
                remint keys generate --config remint.yaml --key shop
                """),
        subcommands: [
            KeysGenerate.self, KeysImport.self, KeysList.self, KeysRemove.self, KeysJWKS.self,
        ])
}
