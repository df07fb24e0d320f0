import AsyncTestSupport
import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

/// Vendors that are files, through the program as the compiled ones.
@Suite(.timeLimit(.minutes(5))) struct DeclaredVendorsTests {
    /// The names of the shipped files.
    private static let shipped = Repository.files(under: "adapters/declared", ending: "yaml").map {
        $0.deletingPathExtension().lastPathComponent
    }

    private func file(_ name: String) -> String {
        Repository.root.appending(path: "adapters/declared/\(name).yaml").path
    }

    @Test func `one worker mints for all declared vendors`() async throws {
        let json = try await DemoFolder.results
        let results = try #require(try JSONSerialization.jsonObject(with: json) as? [[String: Any]])
        #expect(Self.shipped.count >= 12)
        for name in Self.shipped {
            let own = results.filter { $0["vendor"] as? String == name }
            let minted = own.filter { $0["outcome"] as? String == "minted" }
            #expect(!minted.isEmpty, "\(name)")
            #expect(minted.allSatisfy { $0["verdict"] as? String == "accepted" }, "\(name)")
            #expect(own.allSatisfy { $0["problem"] == nil }, "\(name)")
        }
    }

    @Test func `a file of one's own is configured by its path`() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url.appending(path: "shop")
        try await DemoFolder.copy(to: folder, all: true)
        let configuration = folder.appending(path: "remint.yaml")
        let text = try String(contentsOf: configuration, encoding: .utf8)
        try Data(text.replacing("adapter: zendesk", with: "adapter: ./our-vendor.yaml").utf8).write(
            to: configuration)
        let rules = try String(contentsOfFile: file("zendesk"), encoding: .utf8)
        let ours = folder.appending(path: "our-vendor.yaml")
        try Data(rules.replacing("name: zendesk", with: "name: our-vendor").utf8).write(to: ours)
        let check = try await Command.remint(["check", "--all", "--config", configuration.path])
        #expect(check.status == 0, "\(check.errorText)")
        #expect(check.errorText.contains("warning: a fact of Zendesk is missing"))
        try Data(rules.replacing("remedy: mint_once", with: "remedy: mint_onse").utf8).write(to: ours)
        let broken = try await Command.remint(["check", "--config", configuration.path])
        #expect(broken.status == 1)
        #expect(broken.errorText.contains("our-vendor.yaml:"))
        #expect(broken.errorText.contains("did you mean mint_once?"))
    }

    @Test func `a new vendor's file passes lint, and its tests name what to fill in`() async throws {
        let folder = try TemporaryFolder()
        func run(_ words: String) async throws -> Command {
            try await Command.shell("remint adapter \(words)", in: folder.url)
        }
        let new = try await run("new our-vendor")
        #expect(new.status == 0, "\(new.errorText)")
        #expect(new.outputText.hasPrefix("wrote our-vendor.yaml\n"))
        for command in ["lint", "test", "docs"] {
            #expect(new.outputText.contains("remint adapter \(command) our-vendor.yaml"))
        }
        let lint = try await run("lint our-vendor.yaml")
        #expect(lint.status == 0, "\(lint.outputText)")
        // The warnings and the last line are one stream, in the order of the file.
        let lines = lint.outputText.split(separator: "\n")
        #expect(lines.last?.hasPrefix("our-vendor.yaml: ok, ") == true)
        let places = lines.dropLast().compactMap { Int($0.split(separator: ":").dropFirst().first ?? "") }
        #expect(places.count == lines.count - 1 && places == places.sorted())
        #expect(lint.errorText.isEmpty)
        // Each value to fill in has one line.
        #expect(lines.dropLast().allSatisfy { $0.contains(": warning: FILL IN: ") }, "\(lint.outputText)")
        let pair = try await run("new our-pair --algorithm ES256")
        #expect(pair.status == 0, "\(pair.errorText)")
        let linted = try await run("lint our-pair.yaml")
        #expect(linted.status == 0, "\(linted.outputText)")
        let file = try String(contentsOf: folder.url.appending(path: "our-pair.yaml"), encoding: .utf8)
        #expect(file.contains("algorithm: ES256") && file.contains("-----BEGIN PRIVATE KEY-----"))
        let test = try await run("test our-vendor.yaml")
        #expect(test.status == 1)
        #expect(test.outputText.contains("warning: FILL IN: the purpose of the tokens"))
        #expect(test.outputText.contains("values to fill in; each has a warning"))
        let again = try await run("new our-vendor")
        #expect(again.status == 2)
        #expect(again.errorText.contains("our-vendor.yaml exists and is not overwritten"))
        let wrong = try await run("new ../Our")
        #expect(wrong.status == 2)
        #expect(wrong.errorText.contains("\nUsage: remint adapter new <name>"))
    }

    @Test func `the commands speak of files and of compiled vendors`() async throws {
        // A shared secret, an RSA key and a P-256 key; `ShippedFilesTests` runs the tests of every file.
        let files = Scale.isLong ? Self.shipped : ["ably", "jaas", "mapkit-js"]
        let test = try await Command.remint(["adapter", "test"] + files.map(file))
        #expect(test.status == 0, "\(test.outputText)")
        #expect(test.outputText.split(separator: "\n").count { $0.contains(".yaml: ok: ") } == files.count)
        let lint = try await Command.remint(["adapter", "lint", file("ably")])
        #expect(lint.status == 0 && lint.outputText.contains("ok"))
        let docs = try await Command.remint(["adapter", "docs", file("ably")])
        #expect(docs.outputText.hasPrefix("# Ably"))
        let schema = try await Command.remint(["adapter", "schema"])
        let root = try JSONSerialization.jsonObject(with: schema.standardOutput) as? [String: Any]
        #expect(root?["title"] as? String == "A vendor of Remint in one file")
    }

    /// Rows of the tables of codes: of a file, and of each compiled adapter.
    private static let codeRows: [(vendor: String, row: String)] = [
        ("ably", "| `TOKEN_EXPIRED` | `40142` | mint |"),
        ("braze", "| `EXPIRED` | `22` | mint | expired |  |"),
        ("braze", "| `DECODING_ERROR` | `20` | mint_once | key | no token of ours in the report |"),
        ("braze", "| `DECODING_ERROR` | `20` | mint | key | a token of an older version |"),
        ("braze", "| `DECODING_ERROR` | `20` | mint | key | Optional mode, where Braze refuses nothing |"),
        ("braze", "| `DECODING_ERROR` | `20` | not_fixable | key | a token of the active version: Braze cannot"),
        ("braze", "| `UNKNOWN` | any other code, no code | not_fixable | none |"),
        ("onesignal", "| `JWT_INVALIDATED` | every report | mint | key |"),
        (
            "bloomreach",
            "| `TOKEN_REJECTED` | `TOKEN_REJECTED`, `401` | mint_once | key | `mode: stream` |"
        ),
        ("bloomreach", "| `HTTP_401` | `401` | mint_once | key | `mode: customer_token` |"),
        ("dotdigital", "| `INVALID_JWT_403` | `INVALID_JWT_403`, `403` | mint_once | key | with a new nonce |"),
        ("dotdigital", "| `NO_TOKEN` | `NO_TOKEN`, `401`, `5561` | not_for_us | none | without a nonce: a new"),
        ("infobip", "| `JWT_TOKEN_EXPIRED` | `JWT_TOKEN_EXPIRED`, `20014`, `11` | mint | expired |  |"),
    ]

    @Test(arguments: codeRows)
    func `the command codes prints a vendor's numbers, and the condition of each response`(
        _ vendor: String, _ row: String
    ) async throws {
        let codes = try await Command.remint(["codes", vendor])
        #expect(codes.status == 0 && codes.outputText.contains(row), "\(codes.outputText)")
        // A code with two responses states the condition of each.
        let rows = codes.outputText.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let cells = rows.map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        for (name, same) in Dictionary(grouping: cells, by: \.[0]) where same.count > 1 && vendor != "ably" {
            #expect(same.allSatisfy { $0.count == 5 && !$0[4].isEmpty }, "\(name)")
        }
    }
}
