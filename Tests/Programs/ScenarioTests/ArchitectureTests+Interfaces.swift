import Foundation
import ProgramTestSupport
import Testing

// MARK: Code that one module or file alone may use

extension Scenarios.ArchitectureTests {
    @Test func `the settler alone makes settlements`() throws {
        for file in Repository.files(under: "Sources/Rules/Pipeline", ending: "swift")
        where file.lastPathComponent != "Settler.swift" {
            let text = try String(contentsOf: file, encoding: .utf8).replacing(/\/\/[^\n]*/, with: "")
            #expect(!text.contains(/\bSettlement\(/), "\(file.path) makes a settlement")
        }
    }

    /// Signing is behind an interface of its own; these use it. All others can verify and hash.
    @Test func `only the listed modules import the signing interface`() throws {
        let signers = try Repository.files(under: "Sources", ending: "swift").filter {
            try String(contentsOf: $0, encoding: .utf8).contains("@_spi(Signing) import")
        }
        let modules = Set(
            signers.map {
                $0.path.split(separator: "/Sources/").last?.split(separator: "/").dropFirst().first ?? ""
            })
        #expect(
            modules.isSubset(of: [
                "Signing", "AdapterTestKit", "Bench", "BrokerTokens", "Demonstration", "Operations", "Remint",
            ]),
            "\(modules)")
        for file in Repository.files(under: "adapters", ending: "swift") where file.path.contains("/Sources/") {
            #expect(try !String(contentsOf: file, encoding: .utf8).contains("@_spi("), "\(file.path)")
        }
    }

    /// Decryption is behind an interface of its own too: a worker encrypts to its recipients' public keys and needs no
    /// private one of theirs; the gateway opens what it hands to devices, and `remint inspect` what a person gives it
    /// with the key.
    @Test func `nothing but the gateway and inspect decrypts`() throws {
        for folder in ["Sources", "adapters"] {
            for file in Repository.files(under: folder, ending: "swift")
            where !file.path.contains("/Tests/") && !file.path.contains("/Sources/Services/Pickup/")
                && !file.path.hasSuffix("/Commands/InspectCommand.swift")
            {
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(!text.contains("@_spi(Decryption) import"), "\(file.path)")
            }
        }
    }

    /// Redirects, deadlines, TLS and the length of answers are decided there, once. The clients are code for apps, and use
    /// their platform's HTTP.
    @Test func `nothing but HTTPTransport sends requests over HTTP`() throws {
        let forbidden = /\.execute\(|HTTPClient[.(]|HTTPClientRequest\b|import AsyncHTTPClient|URLSession/
        for folder in ["Sources", "adapters"] {
            for file in Repository.files(under: folder, ending: "swift")
            where !file.path.contains("/Sources/Infrastructure/HTTPTransport/") && !file.path.contains("/Tests/")
                && !file.path.contains("/Sources/Clients/")
            {
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(text.firstMatch(of: forbidden) == nil, "\(file.path): use HTTPTransport")
            }
        }
    }

    /// A path that forgets to close a client leaves its threads and its place in a group behind. `whileOpen` has no such path.
    @Test func `a client that lives for one function is closed by whileOpen`() throws {
        let exceptions: Set<String> = [
            "Session.swift",  // The time for closing depends on the reason of the session's end.
            "ControlTopic.swift", "RedriveRun.swift",  // The client outlives the function, unless that throws.
            "ReissueJob.swift",  // A lane is no client.
        ]
        let closing = /catch \{\n(?:[^}]*\n)?\s*await \w+\??\.close\(within/
        let found = try Repository.files(under: "Sources", ending: "swift").filter {
            try String(contentsOf: $0, encoding: .utf8).contains(closing)
        }
        #expect(Set(found.map(\.lastPathComponent)) == exceptions)
    }

    /// A handler of Foundation's is a source of Dispatch's too, and ends later than the file is closed. An event between the
    /// two crashes the process.
    @Test func `a thread reads a pipe, and no source of Dispatch's`() throws {
        let handler = /\.(read|write)abilityHandler|DispatchSource\.make|DispatchIO\(/
        for folder in ["Sources", "adapters", "Tests"] {
            for file in Repository.files(under: folder, ending: "swift") {
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(text.firstMatch(of: handler) == nil, "\(file.path): read on a thread")
            }
        }
    }

    /// The gateway's own server is none of these: a connection without an `NIOAsyncChannel` is not lost (`ServedConnections`).
    @Test func `every HTTP server closes the connections that come as it ends`() throws {
        var servers = 0
        for file in Repository.files(under: "Sources", ending: "swift") {
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains(/[ =]Application\(\n/) else { continue }
            servers += 1
            #expect(text.contains("server: .arrivals(") || text.contains("ArrivalChannel("), "\(file.path)")
        }
        #expect(servers == 1)
    }
}
