import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

/// Single mistakes in a healthy configuration: `remint check` reports each with its place and its fix, and nothing else.
@Suite(.timeLimit(.minutes(5))) struct CheckMistakesTests {
    @Test func `a healthy configuration has no finding`() async throws {
        let program = try await HealthyConfiguration.make().check()
        #expect(program.status == 0)
        #expect(program.errorText.isEmpty, "\(program.errorText)")
        #expect(program.outputText.hasPrefix("remint.yaml: ok: 2 apps, 1 with look-ups, 2 key rings"))
    }

    @Test(arguments: ConfigurationMistake.all)
    func `one mistake is reported once, with its place and its fix`(_ mistake: ConfigurationMistake) async throws {
        let healthy = try HealthyConfiguration.make()
        try mistake.edit.apply(in: healthy.folder)
        let program = try await healthy.check()
        let found = program.errorText
        #expect(program.status == mistake.status, "\(found)")
        let lines = found.split(separator: "\n").map(String.init)
        #expect(lines.count == 1, "\(found)")
        let line = try #require(lines.first)
        #expect(line.hasPrefix("\(mistake.place) "), "\(line)")
        #expect(line.contains(mistake.problem), "\(line)")
        #expect(line.contains(mistake.fix), "\(line)")
        #expect(program.outputText.contains(": ok: ") == (mistake.status == 0), "\(program.outputText)")
        #expect(!(found + program.outputText).contains(HealthyConfiguration.secret))
    }

    @Test func `the table has every mistake once`() {
        let names = ConfigurationMistake.all.map(\.testDescription)
        #expect(names.count >= 38 && Set(names).count == names.count)
    }
}
