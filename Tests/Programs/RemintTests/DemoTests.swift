import AsyncTestSupport
import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

/// `remint demo`, as a newcomer sees it.
@Suite(.timeLimit(.minutes(5))) struct DemoTests {
    private static var total: Regex<(Substring, Substring)> {
        /(\d+) reports: \d+ tokens minted, .*, 0 not as expected/
    }

    @Test(.enabled(if: Scale.isLong, "make demo runs it: make test-long"))
    func `the demo shows five vendors, and its configuration has no finding but missing facts`() async throws {
        let folder = try TemporaryFolder()
        let demo = try await Command.remint(["demo", "--dir", "shop"], directory: folder.url)
        try #require(demo.status == 0, "\(demo.errorText)")
        let lines = demo.outputText.split(separator: "\n").map(String.init)
        #expect(lines.count == 9, "\(demo.outputText)")
        #expect(lines.allSatisfy { $0.count < 120 })
        #expect(lines.prefix(7).allSatisfy { $0.count < 100 })
        let vendors = lines.dropFirst(2).prefix(5).compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(vendors == ["Braze", "OneSignal", "Bloomreach", "Dotdigital", "Infobip"])
        #expect(lines[7].contains("more vendors; every report: remint demo --all"))
        #expect(lines[8].contains(Self.total), "\(lines[8])")
        let check = try await Command.remint(["check", "--config", "shop/remint.yaml"], directory: folder.url)
        #expect(check.status == 0)
        let findings = check.errorText.split(separator: "\n")
        #expect(findings.count == 1, "\(check.errorText)")
        #expect(
            findings.first?.hasSuffix(
                " facts about vendors are missing, the first one here; see each with: remint check --all") == true,
            "\(check.errorText)")
    }

    @Test(.enabled(if: Scale.isLong, "a third run of the demonstration; REMINT_TEST_LONG=1"))
    func `the demo shows each report with --all`() async throws {
        let demo = try await Command.remint(["demo", "--all"])
        try #require(demo.status == 0, "\(demo.errorText)")
        let lines = demo.outputText.split(separator: "\n").map(String.init)
        let total = try #require(lines.last?.firstMatch(of: Self.total))
        // A header, a rule, and the totals.
        #expect(lines.count - 3 == Int(total.1))
    }
}
