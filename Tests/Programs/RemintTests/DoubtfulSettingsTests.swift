import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

/// Mistakes that a worker could start with, or that other mistakes hid: `remint check` reports each with its place and its fix.
@Suite(.timeLimit(.minutes(5))) struct DoubtfulSettingsTests {
    private static let base = """
        kafka:
          bootstrap_servers: embedded
        keys:
          a: { path: keys/a }
        apps:
          web: { adapter: onesignal, key: a, settings: { app_id: 0f0f0f0f-1111-2222-3333-444444444444 } }

        """

    @Test(arguments: [
        (
            "0f0f0f0f-1111-2222-3333-444444444444", "my-app",
            ":6:58: warning: apps.web.settings.app_id is no UUID", 0
        ),
        ("  a: {", "  b: { path: keys/b }\n  a: {", ":4:14: warning: keys.b is the key of no app", 0),
        (
            "embedded\n", "embedded\n  properties: { sasl.password: hunter2 }\n",
            ":3:17: warning: kafka.properties sasl.password is a secret in the configuration's file; move it to a file of mode 600 and write sasl.password_file: PATH",
            0
        ),
        (
            "embedded\n", "127.0.0.1:9092\n  properties: { ssl.truststore.location: hunter2.jks }\n",
            ":3:17: error: the property ssl.truststore.location is Java's: Java TrustStores are not supported, use `ssl.ca.location`",
            1
        ),
        ("embedded", "broker", ":2:22: error: kafka.bootstrap_servers: the address has no port; add :9092", 1),
        ("embedded", "kafka://127.0.0.1:9092", "has a protocol that is none of Kafka's; write PLAINTEXT", 1),
        (
            "apps:", "admin: { listen: 127.0.0.1:9464 }\npickup: { listen: 127.0.0.1:9464 }\napps:",
            "both listen on port 9464 of one address", 1
        ),
        (
            "apps:",
            "pickup: { listen: 127.0.0.1:9465, session: { jwks: nowhere.json, issuer: i, audience: a } }\napps:",
            "nowhere.json", 1
        ),
    ])
    func `check finds a mistake that is no error of form`(
        _ from: String, _ to: String, _ expected: String, _ status: Int
    ) async throws {
        let folder = try await Self.folder()
        let program = try await Self.check(Self.base.replacing(from, with: to, maxReplacements: 1), folder)
        #expect(Int(program.status) == status, "\(program.errorText)")
        #expect(program.errorText.contains(expected), "\(program.errorText)")
        #expect(!program.errorText.contains("hunter2"))
    }

    @Test func `check does not repeat an accepted notice, and repeats every warning`() async throws {
        let folder = try await Self.folder()
        let before = try await Self.check(Self.base, folder)
        try #require(before.errorText.contains(": notice: "), "\(before.errorText)")
        let own = Self.base.split(separator: "\n").map { "\($0)    # accepted: the edge vouches\n" }.joined()
        let accepted = try await Self.check(own, folder)
        #expect(accepted.status == 0 && !accepted.errorText.contains(": notice: "), "\(accepted.errorText)")
        let empty = Self.base.split(separator: "\n").map { "\($0)    # accepted:\n" }.joined()
        #expect(try await Self.check(empty, folder).errorText.contains(": notice: "), "without a reason")
        let warned = own.replacing("0f0f0f0f-1111-2222-3333-444444444444", with: "my-app")
        #expect(try await Self.check(warned, folder).errorText.contains("is no UUID"))
    }

    @Test func `check reports an active key that is over or ends soon, and names the command`() async throws {
        let folder = try await Self.folder()
        let listing = folder.url.appending(path: "keys/a/keyring.json")
        let text = try String(contentsOf: listing, encoding: .utf8)
        for (end, words, status) in [
            ("2020-01-01T00:00:00Z", "a retired at 2020-01-01T00:00:00Z; replace the key: ", Int32(1)),
            (
                Date.now.addingTimeInterval(86_400 * 5.5).formatted(.iso8601), ", in 5 days; replace it: ",
                Int32(0)
            ),
            (Date.now.addingTimeInterval(86_400 * 90).formatted(.iso8601), "ok: 1 app", Int32(0)),
        ] {
            let changed = text.replacing(
                #/"state" ?: ?"active"/#, with: #""state":"active","retire_after":"\#(end)""#)
            try #require(changed != text)
            try Data(changed.utf8).write(to: listing)
            let program = try await Self.check(Self.base, folder)
            let all = program.outputText + program.errorText
            #expect(program.status == status, "\(end): \(all)")
            #expect(all.contains(words), "\(end): \(all)")
            #expect(all.contains("remint rotate prepare --key a") == !words.hasPrefix("ok"), "\(all)")
        }
    }

    @Test(arguments: [
        ("\"hunter2-hunter2-hunter2-hunter2-hunter2\"", "utf8", "is in quotes"),
        ("VENDOR_KEY=hunter2-hunter2-hunter2-hunter2-h", "utf8", "begins with NAME="),
        (String(repeating: "0", count: 64), "hex", "is of zero bytes alone"),
        ("hunter2-hunter2-hunter2-hunter2-h", "utf8", nil),
        ("HUNTER2HUNTER2HUNTER2HUNTER2HUNTER2HUNTER2Q==", "utf8", nil),
    ])
    func `check warns about a shared secret that was copied with more than itself`(
        _ secret: String, _ encoding: String, _ doubt: String?
    ) async throws {
        let folder = try await Self.folder()
        let text = Self.base.replacing("  a: {", with: "  c: { path: keys/c }\n  a: {")
        _ = try await Self.check(text, folder)
        let file = folder.url.appending(path: "secret").path
        try #require(
            FileManager.default.createFile(
                atPath: file, contents: Data(secret.utf8), attributes: [.posixPermissions: 0o600]))
        let made = try await Command.remint(
            [
                "keys", "import", "--config", "remint.yaml", "--key", "c", "--algorithm", "HS256", "--secret", file,
                "--encoding", encoding,
            ], directory: folder.url)
        try #require(made.status == 0, "\(made.errorText)")
        let found = try await Self.check(text, folder).errorText
        #expect(found.contains("the shared secret of the version") == (doubt != nil), "\(found)")
        if let doubt { #expect(found.contains(doubt), "\(found)") }
        #expect(!found.contains("hunter2"))
    }

    @Test func `a wrong ring and an unknown property are reported in the run that reports other mistakes`()
        async throws
    {
        let folder = try await Self.folder()
        let text = Self.base.replacing("keys/a", with: "keys/none").replacing("adapter:", with: "adaptor:")
            .replacing("embedded\n", with: "127.0.0.1:9092\n  properties: { sesion.timeout.ms: 10 }\n")
        let program = try await Self.check(text, folder)
        #expect(program.status == 1)
        for words in [
            "did you mean adapter?", "sesion.timeout.ms", "Create the ring: remint keys generate --key a",
        ] {
            #expect(program.errorText.contains(words), "\(words): \(program.errorText)")
        }
    }

    @Test func `a missing configuration is called missing`() async throws {
        let program = try await Command.remint(["check", "--config", "/nowhere/remint.yaml"])
        #expect(program.status == 1)
        #expect(program.errorText.contains("/nowhere/remint.yaml:1:1: error: no such file; name one with --config"))
    }

    /// A folder with the rings `a` and `b`.
    private static func folder() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let both = base.replacing("  a: {", with: "  b: { path: keys/b }\n  a: {")
        try Data(both.utf8).write(to: folder.url.appending(path: "remint.yaml"))
        for ring in ["a", "b"] {
            let made = try await Command.remint(
                ["keys", "generate", "--config", "remint.yaml", "--key", ring, "--algorithm", "ES256"],
                directory: folder.url)
            try #require(made.status == 0, "\(made.errorText)")
        }
        return folder
    }

    private static func check(_ text: String, _ folder: borrowing TemporaryFolder) async throws -> Command {
        try Data(text.utf8).write(to: folder.url.appending(path: "remint.yaml"))
        return try await Command.remint(["check", "--config", "remint.yaml"], directory: folder.url)
    }
}
