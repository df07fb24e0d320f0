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
@Suite(.enabled(if: hasNode, "needs Node (Debian: nodejs)"), .timeLimit(.minutes(10))) struct BrowserClientTests {
    @Test func `no report and no stream is lost to refusals, cuts and an outage`() async throws {
        let program = try await Program.run(
            "node",
            ["Tests/Services/PickupTests/Pages/retries.mjs", "Sources/Services/Pickup/Resources/remint.js"].map {
                Repository.root.appending(path: $0).path
            })
        #expect(program.status == 0, "\(program.errorText)")
        let found = try JSONDocument(parsing: Array(program.standardOutput)).root
        func names(_ member: String) -> [String] { (found[member]?.elements ?? []).compactMap(\.string) }
        #expect(names("lost").isEmpty, "of 100 reports")
        #expect(names("early").isEmpty, "calls before the time of Retry-After")
        #expect((found["faults"]?.integer ?? 0) > 200)
        // What finds no answer in time is told, and sent again once the page is in the foreground.
        #expect(names("gaveUp") == ["few-1"] && found["hidden"]?.integer == 0)
        #expect(found["streamed"]?.elements.compactMap(\.integer) == [11, 13])
        #expect(names("lastEvents") == ["0", "0", "11"], "the stream goes on where it was cut")
        #expect(found["sessions"]?.integer == 0, "a session in an address")
        #expect(found["others"]?.integer == 0)
    }
}
