import JOSE
import Testing

@testable import Keyring

/// Commands as messages print them.
@Suite struct RemintCommandTests {
    @Test func `a command has the options of the command that prints it`() {
        let command = RemintCommand("rotate revoke", "--key-version", "a")
        #expect("\(command)" == "remint rotate revoke --key-version a")
        let brokered: Set = ["rotate revoke", "status", "reissue"]
        let invocation = RemintCommand.Invocation(
            config: "shop.yaml", ring: "ios", brokers: "b:9092", brokered: brokered)
        RemintCommand.$invocation.withValue(invocation) {
            #expect(
                "\(command)"
                    == "remint rotate revoke --key-version a --key ios --config shop.yaml --brokers b:9092")
            #expect("\(RemintCommand("rotate promote"))" == "remint rotate promote --key ios --config shop.yaml")
            #expect("\(RemintCommand("status"))" == "remint status --config shop.yaml --brokers b:9092")
            #expect(
                "\(RemintCommand("reissue --ledger"))" == "remint reissue --ledger --config shop.yaml --brokers b:9092")
            #expect(
                "\(RemintCommand("keys remove", ring: "web", "b"))"
                    == "remint keys remove --key web b --config shop.yaml")
        }
    }

    @Test(arguments: [
        ("2026-11", "2026-11"), ("/etc/remint/shop.yaml", "/etc/remint/shop.yaml"), ("prod key; 1", "'prod key; 1'"),
        ("it's", #"'it'\''s'"#), ("", "''"), ("$HOME", "'$HOME'"), ("a\nb", "'a\nb'"), ("sch\u{F6}n", "'sch\u{F6}n'"),
    ])
    func `a word is one word of a shell's line`(word: String, quoted: String) {
        #expect(RemintCommand.quoted(word) == quoted)
    }

    @Test func `the commands of a campaign's refusals have its ring and configuration`() throws {
        let rotation = Rotation(id: "c", from: "a b", to: "c", at: .init(seconds: 0))
        RemintCommand.$invocation.withValue(.init(config: "c.yaml", ring: "ios")) {
            let error = #expect(throws: RotationError.self) {
                try rotation.requireNoPart(of: ["a b"], in: .retire)
            }
            let command = "remint rotate retire --key ios --config c.yaml"
            #expect(error?.description.hasSuffix(command) == true, "\(error?.description ?? "")")
        }
    }
}
