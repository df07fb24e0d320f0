import Foundation
import ProgramTestSupport
import Testing

extension DeviceScenarios {
    /// `remint demo`, as a newcomer sees it.
    @Suite(.timeLimit(.minutes(10))) struct DemoTests {
        private static let total = /(\d+) reports: \d+ tokens minted, .*, 0 not as expected/

        @Test func `the demo shows five vendors in a table of less than 100 columns, and the totals`() async throws {
            let demo = try await Program.run(Repository.remint, ["demo"])
            try #require(demo.status == 0, "\(demo.errorText)")
            let lines = demo.outputText.split(separator: "\n").map(String.init)
            #expect(lines.count == 9, "\(demo.outputText)")
            #expect(lines.allSatisfy { $0.count < 120 })
            #expect(lines.prefix(7).allSatisfy { $0.count < 100 })
            let vendors = lines.dropFirst(2).prefix(5).compactMap { $0.split(separator: " ").first.map(String.init) }
            #expect(vendors == ["Braze", "OneSignal", "Bloomreach", "Dotdigital", "Infobip"])
            #expect(lines[7].contains("more vendors; every report: remint demo --all"))
            #expect(lines[8].contains(Self.total), "\(lines[8])")
        }

        @Test func `the demo shows each report with --all`() async throws {
            let demo = try await Program.run(Repository.remint, ["demo", "--all"])
            try #require(demo.status == 0, "\(demo.errorText)")
            let lines = demo.outputText.split(separator: "\n").map(String.init)
            let total = try #require(lines.last?.firstMatch(of: Self.total))
            // A header, a rule, and the totals.
            #expect(lines.count - 3 == Int(total.1))
        }
    }
}
