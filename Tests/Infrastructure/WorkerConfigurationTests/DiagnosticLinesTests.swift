import Testing
import WorkerConfiguration

@Suite("The lines about findings")
struct DiagnosticLinesTests {
    private static let kind = Diagnostic.Kind("files are old")

    private func finding(_ line: Int, _ severity: Diagnostic.Severity = .notice, kind: Diagnostic.Kind?) -> Diagnostic {
        Diagnostic(severity, at: FileLocation(file: "a.yaml", line: line, column: 1), "file \(line) is old", kind: kind)
    }

    private func lines(_ findings: [Diagnostic]) -> [String] { DiagnosticLines(findings, remedy: "see all").lines }

    @Test func `many findings of one kind are one line at the place of the first, with their number`() {
        let many = (2...6).map { finding($0, kind: Self.kind) }
        #expect(
            lines([finding(1, kind: nil)] + many + [finding(7, .error, kind: nil)]) == [
                "a.yaml:1:1: notice: file 1 is old", "a.yaml:2:1: notice: 5 files are old, the first one here; see all",
                "a.yaml:7:1: error: file 7 is old",
            ])
    }

    @Test func `three findings of one kind have a line each`() {
        let few = (1...3).map { finding($0, kind: Self.kind) }
        #expect(lines(few) == few.map(\.description))
    }

    @Test func `findings of another severity, another kind or none are not counted together`() {
        let mixed =
            (1...3).map { finding($0, kind: Self.kind) } + (4...6).map { finding($0, .warning, kind: Self.kind) }
            + (7...9).map { finding($0, kind: Diagnostic.Kind("files are new")) }
            + (10...14).map { finding($0, kind: nil) }
        #expect(lines(mixed) == mixed.map(\.description))
    }
}
