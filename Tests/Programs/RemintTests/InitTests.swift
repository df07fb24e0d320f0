import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

/// `remint init`, and the commands that it prints.
@Suite(.timeLimit(.minutes(5))) struct InitTests {
    /// A folder for first configurations.
    private final class Lab {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        func shell(_ line: String) async throws -> Command { try await Command.shell(line, in: folder.url) }

        func has(_ path: String) -> Bool {
            FileManager.default.fileExists(atPath: folder.url.appending(path: path).path)
        }
    }

    @Test func `init makes a ring and a configuration without a finding, and replaces neither`() async throws {
        let lab = try Lab()
        let made = try await lab.shell("remint init --vendor braze --generate --dir shop")
        try #require(made.status == 0, "\(made.errorText)")
        #expect(made.outputText.contains("-----BEGIN PUBLIC KEY-----"))
        #expect(!made.outputText.contains("PRIVATE"))
        let check = try await lab.shell("remint check --config shop/remint.yaml")
        #expect(check.status == 0 && check.errorText.isEmpty, "\(check.errorText)")
        #expect(check.outputText.hasPrefix("shop/remint.yaml: ok: 1 app, 1 key ring"), "\(check.outputText)")
        let again = try await lab.shell("remint init --vendor braze --generate --dir shop")
        #expect(again.status == 1)
        #expect(again.errorText.contains("has an app or a key ring braze already"), "\(again.errorText)")
    }

    @Test func `init adds a second app to a configuration, and changes no other line`() async throws {
        let lab = try Lab()
        let first = try await lab.shell("remint init --vendor braze --app shop --generate --gateway")
        try #require(first.status == 0, "\(first.errorText)")
        let file = lab.folder.url.appending(path: "remint.yaml")
        let before = try String(contentsOf: file, encoding: .utf8)
        let id = "5eb5a37e-b458-11e3-ac11-000c2940e62c"
        let options = "--vendor onesignal --app push --set app_id=\(id) --generate"
        let refused = try await lab.shell("remint init \(options) --brokers kafka:9093")
        #expect(refused.status == 2 && refused.errorText.contains("states the brokers"), "\(refused.errorText)")
        let second = try await lab.shell("remint init \(options)")
        try #require(second.status == 0, "\(second.errorText)")
        #expect(second.outputText.contains("has the app push now"), "\(second.outputText)")
        #expect(second.outputText.contains("add to pickup.apps: push: { issuer: ISSUER }"), "\(second.outputText)")
        let after = try String(contentsOf: file, encoding: .utf8)
        let added = after.split(separator: "\n").difference(from: before.split(separator: "\n"))
        #expect(added.removals.isEmpty && added.insertions.count == 7, "\(after)")
        let check = try await lab.shell("remint check --config remint.yaml")
        #expect(check.status == 0 && check.errorText.isEmpty, "\(check.errorText)")
        #expect(check.outputText.hasPrefix("remint.yaml: ok: 2 apps, 2 key rings"), "\(check.outputText)")
        let taken = try await lab.shell("mkdir keys/mine && cp keys/push/*.pem keys/mine/own.pem")
        try #require(taken.status == 0, "\(taken.errorText)")
        let used = try await lab.shell("remint init --vendor braze --app mine --generate")
        #expect(used.status == 1 && used.errorText.contains("keys/mine exists already"), "\(used.errorText)")
        #expect(lab.has("keys/mine/own.pem"))
        let linked = try await lab.shell("mkdir other && ln -s ../remint.yaml other/remint.yaml")
        try #require(linked.status == 0, "\(linked.errorText)")
        let link = try await lab.shell("remint init --vendor braze --app web --generate --dir other")
        #expect(link.status == 1 && link.errorText.contains("is a symbolic link"), "\(link.errorText)")
        #expect(!lab.has("other/keys"))
        try Data(after.replacing("    adapter: braze", with: "    adapter: brase").utf8).write(to: file)
        let wrong = try await lab.shell("remint init --vendor braze --app web --generate")
        #expect(wrong.status == 1 && wrong.errorText.contains("did you mean braze?"), "\(wrong.errorText)")
        #expect(!lab.has("keys/web"))
    }

    @Test func `init imports an existing key, and leaves nothing behind after one that it refuses`() async throws {
        let lab = try Lab()
        let key = try await lab.shell("openssl genrsa -out key 2048")
        try #require(key.status == 0, "\(key.errorText)")
        let other = try await lab.shell("openssl genpkey -algorithm ED25519 -out other")
        try #require(other.status == 0, "\(other.errorText)")
        for name in ["key", "other"] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: lab.folder.url.appending(path: name).path)
        }
        let refused = try await lab.shell("remint init --vendor braze --app shop --import other")
        #expect(refused.status == 1)
        #expect(refused.errorText.contains("other: RS256 needs a key of type RSA"), "\(refused.errorText)")
        #expect(!lab.has("remint.yaml") && !lab.has("keys"))
        let made = try await lab.shell("remint init --vendor braze --app shop --import key --gateway")
        #expect(made.status == 0, "\(made.errorText)")
        let list = try await lab.shell("remint keys list --config remint.yaml")
        #expect(list.outputText.contains("active") && list.outputText.contains("RS256"), "\(list.outputText)")
        let mode = try FileManager.default.attributesOfItem(
            atPath: lab.folder.url.appending(path: "backend.key").path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func `init requires the vendor's id of an imported key, and prints no step that is done`() async throws {
        let lab = try Lab()
        let made = try await lab.shell(
            "umask 077 && openssl rand -hex -out secret 32 && openssl ecparam -name prime256v1 -genkey -out key")
        try #require(made.status == 0, "\(made.errorText)")
        let infobip = "remint init --vendor infobip --set application_code=code --import secret --encoding hex"
        let refused = try await lab.shell(infobip)
        #expect(refused.status != 0 && refused.errorText.contains("--kid ID"), "\(refused.errorText)")
        #expect(!lab.has("remint.yaml") && !lab.has("keys"))
        let pem = try await lab.shell("remint init --vendor helpshift --import key")
        #expect(pem.status == 1 && pem.errorText.contains("key: it is PEM, and HS256 signs"), "\(pem.errorText)")
        let words = infobip.split(separator: " ").dropFirst().map(String.init)
        let odd = try await Command.remint(words + ["--kid", "a\u{1B}b"], directory: lab.folder.url)
        #expect(odd.status == 1 && odd.errorText.contains("has a control character"), "\(odd.errorText)")
        #expect(!lab.has("remint.yaml"))
        let second = try await lab.shell("\(infobip) --kid ib-7")
        #expect(second.status == 0, "\(second.errorText)")
        #expect(second.outputText.contains("Infobip made this key; nothing is left to do there."))
        let id = "5eb5a37e-b458-11e3-ac11-000c2940e62c"
        let push = try await lab.shell("remint init --vendor onesignal --app push --set app_id=\(id) --import key")
        #expect(push.status == 0, "\(push.errorText)")
        #expect(push.outputText.contains("Compare this public key with the one that OneSignal has."))
        #expect(!push.outputText.contains("Import the private key"), "\(push.outputText)")
    }

    @Test(arguments: [
        ("", "--vendor NAME is missing"), ("--vendor brase", "did you mean braze?"),
        ("--vendor braze", "--generate or --import FILE is missing"),
        ("--vendor onesignal --generate", "--set app_id=VALUE is missing"),
        ("--vendor braze --generate --import key", "give either --generate or --import"),
        ("--vendor braze --generate --gateway --own-edge", "give either --gateway or --own-edge"),
        ("--vendor braze --generate --brokers kafka", "has no port"),
    ])
    func `without a terminal, init names the missing or wrong option`(
        _ options: String, _ words: String
    ) async throws {
        let lab = try Lab()
        let program = try await lab.shell("remint init \(options)")
        #expect(program.status == 2)
        #expect(program.errorText.contains(words), "\(program.errorText)")
        #expect(program.errorText.contains("\nUsage: remint init "), "\(program.errorText)")
        #expect(!lab.has("remint.yaml"))
    }

    @Test func `a worker with a gateway needs the gateway's section`() async throws {
        let lab = try Lab()
        let made = try await lab.shell("remint init --vendor braze --generate")
        try #require(made.status == 0, "\(made.errorText)")
        let run = try await lab.shell("remint run --with-pickup --config remint.yaml")
        #expect(run.status == 1)
        #expect(run.errorText.contains("--with-pickup needs the section pickup in remint.yaml"), "\(run.errorText)")
        #expect(run.errorText.logLines("worker.started").isEmpty)
    }

    @Test func `a command without --config reads the file of REMINT_CONFIG`() async throws {
        let lab = try Lab()
        let made = try await lab.shell("remint init --vendor braze --generate")
        try #require(made.status == 0, "\(made.errorText)")
        let check = try await lab.shell("env REMINT_CONFIG=remint.yaml remint check")
        #expect(check.status == 0 && check.outputText.hasPrefix("remint.yaml: ok"), "\(check.errorText)")
        let missing = try await lab.shell("env REMINT_CONFIG=nowhere.yaml remint check")
        #expect(missing.status == 1 && missing.errorText.contains("nowhere.yaml:1:1: error: no such file"))
        guard !FileManager.default.fileExists(atPath: "/etc/remint/remint.yaml") else { return }
        let none = try await lab.shell("env -u REMINT_CONFIG remint check")
        #expect(none.status == 2)
        #expect(none.errorText.contains("REMINT_CONFIG is not set, and /etc/remint/remint.yaml does not exist"))
    }
}
