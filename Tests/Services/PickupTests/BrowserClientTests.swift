import AdapterKit
import Formats
import Foundation
import ProgramTestSupport
import Testing

/// Whether this machine runs JavaScript outside of a browser.
private let hasNode = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
    FileManager.default.isExecutableFile(atPath: "\($0)/node")
}

/// The client that the gateway serves to pages, before servers that refuse, break and are away.
@Suite(.enabled(if: hasNode, "needs Node (Debian: nodejs)"), .timeLimit(.minutes(5))) struct BrowserClientTests {
    @Test func `no report and no stream is lost to refusals, cuts and an outage`() async throws {
        let program = try await Program.run(
            "node",
            ["Tests/Services/PickupTests/Pages/retries.mjs", "Sources/Services/Pickup/Resources/remint.mjs"].map {
                Repository.root.appending(path: $0).path
            })
        #expect(program.status == 0, "\(program.errorText)")
        let found = try JSONDocument(parsing: Array(program.standardOutput)).root
        func names(_ member: String) -> [String] { (found[member]?.elements ?? []).compactMap(\.string) }
        #expect(names("lost").isEmpty, "of 100 reports")
        #expect(names("early").isEmpty, "calls before the time of Retry-After")
        #expect((found["faults"]?.integer ?? 0) > 200)
        #expect(names("noAnswer") == ["few-1"], "the app hears of five minutes without an answer")
        #expect(found["streamed"]?.elements.compactMap(\.integer) == [11, 13])
        #expect(names("lastEvents") == ["0", "0", "11"], "the stream goes on where it was cut")
        #expect(found["sessions"]?.integer == 0, "a session in an address")
        #expect(found["others"]?.integer == 0)
        // Six statuses for each of report, token and stream: each is a RemintError, and onProblem gets it once.
        #expect(found["refusals"]?.elements.map(\.bool) == Array(repeating: true, count: 18))
        #expect(found["refused"]?.integer == 18)
        // One call for two callers of token(), two for those of report(), which the gateway sends elsewhere.
        #expect(found["coalesced"]?["calls"]?.integer == 3 && found["coalesced"]?["isOne"]?.bool == true)
        #expect(names("cancels") == ["AbortError", "closed", "closed"], "one caller, the client, and a call after it")
        #expect(found["renewed"]?["calls"]?.integer == 2, "the known token serves while the next one is on its way")
    }
}
