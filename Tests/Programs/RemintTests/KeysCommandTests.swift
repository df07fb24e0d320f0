import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

/// `remint keys`, as an operator meets it.
@Suite(.timeLimit(.minutes(5))) struct KeysCommandTests {
    /// A mistake, and its error.
    private struct Mistake: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Makes the input, in a folder of its own.
        let openssl: String
        let arguments: [String]
        let words: String
    }

    private static let mistakes: [Mistake] = [
        Mistake(
            testDescription: "the wrong algorithm", openssl: "genpkey -algorithm ED25519 -out key",
            arguments: ["import", "--key", "braze-ios", "--pem", "key", "--algorithm", "EdDSA"],
            words: "EdDSA is not for the app braze-ios: Braze takes RS256 alone"),
        Mistake(
            testDescription: "a key of the wrong type", openssl: "genpkey -algorithm ED25519 -out key",
            arguments: ["import", "--key", "braze-ios", "--pem", "key"], words: "RS256 needs a key of type RSA"),
        Mistake(
            testDescription: "a weak key", openssl: "genrsa -out key 1024",
            arguments: ["import", "--key", "braze-ios", "--pem", "key"], words: "the RSA key has 1024 bits"),
        Mistake(
            testDescription: "a passphrase that is missing",
            openssl: "genpkey -algorithm RSA -aes256 -pass pass:right -out key",
            arguments: ["import", "--key", "braze-ios", "--pem", "key"], words: "passphrase"),
        Mistake(
            testDescription: "a wrong passphrase",
            openssl: "genpkey -algorithm RSA -aes256 -pass pass:right -out key",
            arguments: ["import", "--key", "braze-ios", "--pem", "key", "--passphrase-file", "wrong"],
            words: "passphrase"),
        Mistake(
            testDescription: "a public key", openssl: "pkey -in private -pubout -out key",
            arguments: ["import", "--key", "braze-ios", "--pem", "key"], words: "private"),
        Mistake(
            testDescription: "an id that is taken", openssl: "genrsa -out key 2048",
            arguments: ["import", "--key", "braze-ios", "--pem", "key", "--id", DemoFolder.version],
            words: "has a version \"\(DemoFolder.version)\" already"),
        Mistake(
            testDescription: "a cipher that libcrypto does not offer",
            openssl:
                "pkcs8 -topk8 -v1 PBE-SHA1-RC2-40 -in private -out key -passout pass:wrong -provider legacy -provider default",
            arguments: ["import", "--key", "braze-ios", "--pem", "key", "--passphrase-file", "wrong"],
            words: "openssl pkcs8 -topk8 -v2 aes-256-cbc -provider legacy"),
        Mistake(
            testDescription: "a key that the ring holds already",
            openssl: "rsa -in shop/keys/braze-ios/\(DemoFolder.version).pem -traditional -out key",
            arguments: ["import", "--key", "braze-ios", "--pem", "key", "--id", "again"],
            words: "holds this key already, as the version \"\(DemoFolder.version)\", which is active"),
        Mistake(
            testDescription: "an id with a space", openssl: "genrsa -out key 2048",
            arguments: ["import", "--key", "braze-ios", "--pem", "key", "--id", "a b"],
            words: "\"a b\" cannot be a version's id: it holds \" \"; give another with --id"),
        Mistake(
            testDescription: "an id that is empty", openssl: "version",
            arguments: ["generate", "--key", "braze-ios", "--id", ""],
            words: "\"\" cannot be a version's id: it is empty; give another with --id"),
        Mistake(
            testDescription: "an id that begins with a hyphen", openssl: "version",
            arguments: ["generate", "--key", "braze-ios", "--id=-x"],
            words: "\"-x\" cannot be a version's id: it begins with a hyphen"),
        Mistake(
            testDescription: "an unknown version", openssl: "version",
            arguments: ["remove", "x", "--force", "--key", "braze-ios"],
            words: "has no version \"x\"; it has: \(DemoFolder.version)"),
        Mistake(
            testDescription: "the active version removed", openssl: "version",
            arguments: ["remove", DemoFolder.version, "--force", "--key", "braze-ios"],
            words: "is active and cannot be removed; first: remint rotate promote"),
        Mistake(
            testDescription: "a secret of another encoding", openssl: "rand -base64 -out key 33",
            arguments: ["import", "--key", "infobip-mobile", "--secret", "key", "--encoding", "hex"], words: "hex"),
        Mistake(
            testDescription: "an imported key without its id at the vendor", openssl: "rand -hex -out key 32",
            arguments: ["import", "--key", "infobip-mobile", "--secret", "key", "--encoding", "hex"],
            words: "the tokens of the app infobip-mobile name their key; give the key's id at Infobip: --kid ID"),
        Mistake(
            testDescription: "an unknown ring", openssl: "version", arguments: ["generate", "--key", "nobody"],
            words: "no key ring is called nobody"),
    ]

    @Test func `a mistake is one clear line and changes nothing`() async throws {
        let folder = try TemporaryFolder()
        try await DemoFolder.copy(to: folder.url.appending(path: "shop"))
        try Data("wrong\n".utf8).write(to: folder.url.appending(path: "wrong"))
        let private_ = try await Program.run("openssl", ["genrsa", "-out", "private", "2048"], directory: folder.url)
        try #require(private_.status == 0)
        for mistake in Self.mistakes {
            let made = try await Program.run(
                "openssl", mistake.openssl.split(separator: " ").map(String.init), directory: folder.url)
            try #require(made.status == 0, "\(mistake): \(made.errorText)")
            for name in ["key", "wrong"] {
                try? FileManager.default.setAttributes(
                    [.posixPermissions: 0o600], ofItemAtPath: folder.url.appending(path: name).path)
            }
            let before = try rings(folder)
            let program = try await Command.remint(
                ["keys", mistake.arguments[0], "--config", "shop/remint.yaml"] + mistake.arguments.dropFirst(),
                directory: folder.url)
            #expect([1, 2].contains(program.status), "\(mistake)")
            let first = program.errorText.split(separator: "\n").first.map(String.init) ?? ""
            #expect(first.contains(mistake.words), "\(mistake): \(program.errorText)")
            #expect(try rings(folder) == before, "\(mistake): nothing half done")
        }
    }

    @Test func `the keys command leads a key through its whole life`() async throws {
        let folder = try TemporaryFolder()
        func keys(_ arguments: String...) async throws -> Command {
            try await Command.remint(
                ["keys", arguments[0], "--config", "shop/remint.yaml"] + arguments.dropFirst(),
                directory: folder.url)
        }
        func rotate(_ arguments: String...) async throws -> Command {
            try await Command.remint(
                ["rotate", arguments[0], "--config", "shop/remint.yaml", "--key", "braze-ios", "--key-version", "b"]
                    + arguments.dropFirst(),
                directory: folder.url)
        }
        try await DemoFolder.copy(to: folder.url.appending(path: "shop"))
        let made = try await keys("generate", "--key", "braze-ios", "--id", "b", "--rsa-bits", "3072")
        #expect(made.status == 0, "\(made.errorText)")
        #expect(made.outputText.contains("-----BEGIN PUBLIC KEY-----"))
        #expect(made.outputText.contains("Settings > App Settings"))
        #expect(!made.outputText.contains("PRIVATE"))
        let early = try await rotate("promote")
        #expect(early.status == 1)
        let promoted = try await rotate("promote", "--now")
        #expect(promoted.status == 0, "\(promoted.errorText)")
        let set = try await keys("jwks", "--key", "braze-ios")
        let root = try JSONSerialization.jsonObject(with: set.standardOutput) as? [String: Any]
        #expect((root?["keys"] as? [[String: Any]])?.compactMap { $0["kid"] as? String } == [DemoFolder.version, "b"])
        #expect((root?["keys"] as? [[String: Any]])?.allSatisfy { $0["d"] == nil } == true)
        let short = try await Program.run("openssl", ["rand", "-hex", "-out", "short", "8"], directory: folder.url)
        try #require(short.status == 0)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: folder.url.appending(path: "short").path)
        let imported = try await keys(
            "import", "--key", "infobip-mobile", "--secret", "short", "--encoding", "hex", "--id", "s")
        #expect(imported.status == 0, "the vendor chose it: \(imported.errorText)")
        #expect(imported.errorText.contains("shorter than its digest"))
        let revoked = try await rotate("revoke", "--promote", DemoFolder.version, "--no-reissue")
        #expect(revoked.status == 1, "without brokers the number of its tokens is unknown: \(revoked.errorText)")
        #expect(revoked.outputText.contains("an unknown number of live tokens of b is left"), "\(revoked.outputText)")
        let list = try await keys("list", "--key", "braze-ios", "--json")
        let states = list.outputText.split(separator: "\n").compactMap { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["state"] as? String
        }
        #expect(states == ["active", "revoked"])
    }

    @Test func `check reports a ring with one key twice, and fails where the key is revoked under one name`()
        async throws
    {
        let folder = try TemporaryFolder()
        try await DemoFolder.copy(to: folder.url.appending(path: "shop"))
        let listing = folder.url.appending(path: "shop/keys/braze-ios/keyring.json")
        let second =
            #"{"versions":[{"id":"again","state":"passive","algorithm":"RS256","file":"again.pem"},"#
        let files = listing.deletingLastPathComponent()
        try FileManager.default.copyItem(
            at: files.appending(path: "\(DemoFolder.version).pem"), to: files.appending(path: "again.pem"))
        let text = try String(contentsOf: listing, encoding: .utf8)
        try Data(text.replacing(#"{"versions":["#, with: second).utf8).write(to: listing)
        let check = try await Command.remint(["check", "--config", "shop/remint.yaml"], directory: folder.url)
        #expect(check.status == 0, "\(check.errorText)")
        #expect(
            check.errorText.contains(
                "warning: keys.braze-ios: the versions again (passive) and \(DemoFolder.version) (active) hold the same key"
            ))
        try Data(text.replacing(#"{"versions":["#, with: second.replacing("passive", with: "revoked")).utf8)
            .write(to: listing)
        let failed = try await Command.remint(["check", "--config", "shop/remint.yaml"], directory: folder.url)
        #expect(failed.status == 1, "\(failed.errorText)")
        #expect(
            failed.errorText.contains(
                "error: keys.braze-ios: the version \(DemoFolder.version) (active) holds the key of again (revoked), which is compromised; run: remint rotate revoke --key braze-ios --key-version \(DemoFolder.version)"
            ), "\(failed.errorText)")
        let odd = text.replacing(#""id":"\#(DemoFolder.version)""#, with: #""id":"ios 2026""#)
        try Data(odd.utf8).write(to: listing)
        let warned = try await Command.remint(["check", "--config", "shop/remint.yaml"], directory: folder.url)
        #expect(warned.status == 0, "\(warned.errorText)")
        #expect(
            warned.errorText.contains(
                "warning: keys.braze-ios: the id of the version \"ios 2026\" is no name for a file or a command line; rotate to a version with another id and retire this one"
            ))
    }

    @Test func `a key of two rings is revoked in both, or the command fails and names the other`() async throws {
        let folder = try TemporaryFolder()
        try await DemoFolder.copy(to: folder.url.appending(path: "shop"))
        func remint(_ arguments: String...) async throws -> Command {
            try await Command.remint(arguments + ["--config", "shop/remint.yaml"], directory: folder.url)
        }
        let configuration = folder.url.appending(path: "shop/remint.yaml")
        let text = try String(contentsOf: configuration, encoding: .utf8)
        let ring = try #require(text.split(separator: "\n").first { $0.hasPrefix("  braze-ios:") })
        let second = ring.replacing("braze-ios", with: "second")
        try Data(text.replacing(ring, with: "\(ring)\n\(second)").utf8).write(to: configuration)
        let key = "shop/keys/braze-ios/\(DemoFolder.version).pem"
        let twice = try await remint(
            "keys", "import", "--key", "second", "--pem", key, "--id", "x", "--algorithm", "RS256")
        #expect(twice.status == 0, "\(twice.errorText)")
        #expect(
            twice.errorText.contains("the key is also that of \(DemoFolder.version) (active) of the ring braze-ios"),
            "\(twice.errorText)")
        let shared = try await remint("check")
        #expect(shared.status == 0)
        #expect(
            shared.errorText.contains("hold the same key; use one ring for the apps of both"), "\(shared.errorText)"
        )
        for ring in ["braze-ios", "second"] {
            let made = try await remint("keys", "generate", "--key", ring, "--id", "n", "--algorithm", "RS256")
            #expect(made.status == 0, "\(made.errorText)")
        }
        let revoke = [
            "rotate", "revoke", "--key", "braze-ios", "--key-version", DemoFolder.version, "--no-reissue",
            "--config", "shop/remint.yaml",
        ]
        let first = try await Command.remint(revoke, directory: folder.url)
        #expect(first.status == 1, "\(first.outputText)")
        let words = "remint rotate revoke --key second --key-version x"
        #expect(first.errorText.contains(words), "\(first.errorText)")
        #expect(first.errorText.contains("n, which is prepared, signs from now on"), "\(first.errorText)")
        #expect(first.outputText.contains("\(DemoFolder.version) is revoked"), "\(first.outputText)")
        let failed = try await remint("check")
        #expect(failed.status == 1 && failed.errorText.contains(words), "\(failed.errorText)")
        let other = try await remint("rotate", "revoke", "--key", "second", "--key-version", "x", "--no-reissue")
        // No broker answers, so whether tokens are left is unknown.
        #expect(other.status == 1, "\(other.errorText)")
        #expect(other.outputText.contains("an unknown number of live tokens of x is left"), "\(other.outputText)")
        let again = try await Command.remint(revoke, directory: folder.url)
        #expect(again.status == 1 && !again.errorText.contains(words), "\(again.errorText)")
        let imported = try await remint(
            "keys", "import", "--key", "infobip-mobile", "--pem", key, "--id", "y", "--algorithm", "RS256")
        #expect(imported.status != 0, "\(imported.errorText)")
    }

    @Test func `a new version's steps depend on its state and on the party that made the key`() async throws {
        let folder = try TemporaryFolder()
        let configuration = """
            kafka: { bootstrap_servers: "127.0.0.1:9092" }
            keys: { made: { path: keys/made }, had: { path: keys/had } }
            apps: { made: { adapter: braze, key: made }, had: { adapter: braze, key: had } }
            """
        try Data(configuration.utf8).write(to: folder.url.appending(path: "remint.yaml"))
        func keys(_ arguments: String...) async throws -> Command {
            try await Command.remint(
                ["keys", arguments[0], "--config", "remint.yaml"] + arguments.dropFirst(),
                directory: folder.url)
        }
        let first = try await keys("generate", "--key", "made", "--id", "a")
        #expect(first.status == 0, "\(first.errorText)")
        #expect(first.outputText.contains("the version a (RS256) is active and signs from now on\n"))
        #expect(first.outputText.contains("Until these steps at Braze are done, Braze refuses its tokens:\n  1. "))
        let second = try await keys("generate", "--key", "made", "--id", "b")
        #expect(second.outputText.contains("the version b (RS256) is prepared\n"), "\(second.errorText)")
        #expect(second.outputText.contains("At Braze, before it may sign:\n  1. "))
        let made = try await Program.run("openssl", ["genrsa", "-out", "key", "2048"], directory: folder.url)
        try #require(made.status == 0)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: folder.url.appending(path: "key").path)
        let imported = try await keys("import", "--key", "had", "--pem", "key")
        #expect(imported.outputText.contains("is active and signs from now on\n"), "\(imported.errorText)")
        #expect(imported.outputText.contains("Compare this public key with the one that Braze has.\n"))
        #expect(imported.outputText.contains("At Braze, unless it is done already:\n  1. "))
    }

    private func rings(_ folder: borrowing TemporaryFolder) throws -> [String: String] {
        var texts: [String: String] = [:]
        for ring in ["braze-ios", "infobip-mobile"] {
            let url = folder.url.appending(path: "shop/keys/\(ring)")
            texts[ring] = try String(contentsOf: url.appending(path: "keyring.json"), encoding: .utf8)
            texts[ring + " files"] = try FileManager.default.contentsOfDirectory(atPath: url.path)
                .filter { !$0.hasSuffix(".lock") }.sorted().joined(separator: ",")
        }
        return texts
    }
}
