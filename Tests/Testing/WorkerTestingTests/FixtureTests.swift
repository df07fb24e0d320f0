import AdapterKit
import Foundation
import ProgramTestSupport
import Testing
import Vendors
import WorkerConfiguration
import WorkerTesting
import YAMLReading

/// Files of tests under `Fixtures`, about the configuration beside them. The first lines of one that fails or is wrong
/// are what must be reported about it: `# error: 4:10 the message, to its end`.
struct Fixture: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let path: String
    /// The required messages, in order.
    let says: [String]

    static let folder = Repository.root.appending(path: "Tests/Testing/WorkerTestingTests/Fixtures").path
    static let source = ConfigurationSource(
        environment: { _ in nil }, file: { try? String(contentsOfFile: $0, encoding: .utf8) })
    static var reader: ConfigurationReader {
        ConfigurationReader(
            registry: .remint,
            source: ConfigurationReader.withoutSecrets(source) { FileManager.default.fileExists(atPath: $0) })
    }

    static func all(in folder: String) -> [Fixture] {
        Repository.files(under: "Tests/Testing/WorkerTestingTests/Fixtures/\(folder)", ending: "yaml").compactMap {
            file in
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
            let says = text.split(separator: "\n").filter { $0.hasPrefix("# error: ") }.map { String($0.dropFirst(9)) }
            return Fixture(testDescription: file.lastPathComponent, path: file.path, says: says)
        }.sorted { $0.path < $1.path }
    }

    /// The configuration that they are about.
    static func configuration() throws -> Configuration {
        let (configuration, _, diagnostics) = reader.tested("\(folder)/remint.yaml")
        return try #require(configuration, "\(diagnostics.all)")
    }

    /// The diagnostics in the spelling of the first lines.
    static func lines(_ diagnostics: [Diagnostic]) -> [String] {
        diagnostics.map { "\($0.place.line):\($0.place.column) \($0.message)" }
    }

    /// The tests in it, and their report.
    func read(_ configuration: Configuration) -> (cases: [TestCase], diagnostics: [Diagnostic]) {
        let (tests, diagnostics) = Self.reader.tests(path)
        let cases = tests.map { TestCaseReader(configuration, source: Self.source).read($0) } ?? []
        return (cases, diagnostics.all)
    }

    /// Returns the results of its tests.
    func run() async throws -> [CaseResult] {
        let configuration = try Self.configuration()
        let (cases, diagnostics) = read(configuration)
        #expect(diagnostics.isEmpty, "\(diagnostics)")
        let run = TestRun(configuration, try TestRings(configuration, ephemeral: true))
        var results: [CaseResult] = []
        for test in cases { results.append(await run.run(test)) }
        return results
    }
}

@Suite("Tests of a configuration")
struct FixtureTests {
    @Test(arguments: Fixture.all(in: "good")) func `every test in the good fixtures passes`(_ fixture: Fixture)
        async throws
    {
        let results = try await fixture.run()
        #expect(results.count > 10)
        for result in results { #expect(result.isOK, "\(result.test.name): \(result.failures)") }
    }

    @Test(arguments: Fixture.all(in: "failing"))
    func `a failing test reports the expected and the actual value, and no token`(_ fixture: Fixture) async throws {
        let results = try await fixture.run()
        #expect(!results.isEmpty)
        for result in results { #expect(!result.isOK, "\(result.test.name)") }
        #expect(Fixture.lines(results.flatMap(\.failures)) == fixture.says)
        for report in [TestReport(results).text, TestReport(results).json, TestReport(results).junit] {
            #expect(!report.contains("eyJ"), "a token is in the report")
        }
    }

    @Test(arguments: Fixture.all(in: "broken")) func `a broken test is refused with its mistake`(_ fixture: Fixture)
        throws
    {
        let (_, diagnostics) = fixture.read(try Fixture.configuration())
        #expect(Fixture.lines(diagnostics) == fixture.says)
        #expect(!fixture.says.isEmpty)
    }

    @Test func `the configuration needs neither its secrets nor its servers`() throws {
        let (configuration, tests, diagnostics) = Fixture.reader.tested("\(Fixture.folder)/remint.yaml")
        #expect(diagnostics.all.isEmpty, "\(diagnostics.all)")
        let cases = TestCaseReader(try #require(configuration), source: Fixture.source).read(try #require(tests))
        #expect(cases.map(\.name) == ["in the configuration itself"])
        #expect(tests?.diagnostics.all.isEmpty == true)
    }

    @Test func `the same ids and times come out each time`() async throws {
        let fixture = try #require(Fixture.all(in: "failing").last)
        let (first, second) = (try await fixture.run(), try await fixture.run())
        #expect(Fixture.lines(first.flatMap(\.failures)) == Fixture.lines(second.flatMap(\.failures)))
    }
}

/// Tests that schema and sample describe the words that a test may have.
@Suite("The words of a configuration's tests")
struct DeclaredWordTests {
    /// Returns the messages about `tests: { t: YAML }`.
    private func messages(_ yaml: String) throws -> [String] {
        let text = "tests:\n  t: \(yaml)\n"
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "t.yaml" ? text : nil })
        let (tests, diagnostics) = ConfigurationReader(registry: .remint, source: source).tests("t.yaml")
        _ = TestCaseReader(try Fixture.configuration(), source: source).read(try #require(tests))
        return diagnostics.all.map(\.message)
    }

    /// The names in a message such as `unknown key x; known here: a, b`.
    private func known(_ messages: [String]) throws -> Set<String> {
        let list = try #require(messages.compactMap { $0.split(separator: "known here: ").dropFirst().first }.first)
        return Set(list.split(separator: ", ").map(String.init))
    }

    @Test func `every key that is declared is read, and no other`() throws {
        let each = try #require(Configuration.Tests.section.sections.first)
        let inner = Dictionary(each.sections.map { ($0.name, Set($0.keys.map(\.name))) }) { first, _ in first }
        // Which words the event's part knows depends on the event.
        let enveloped = try known(messages("{ app: ios, report: {}, expect: { outcome: minted }, zzzzzzzzzz: 1 }"))
        let asItIs = try known(messages("{ value: {}, expect: { outcome: minted }, zzzzzzzzzz: 1 }"))
        #expect(enveloped.union(asItIs) == Set(each.keys.map(\.name)).union(inner.keys))
        let expectation = try known(messages("{ app: ios, report: {}, expect: { outcome: minted, zzzzzzzzzz: 1 } }"))
        #expect(expectation == inner["expect"])
        let lookup = try known(
            messages("{ app: ios, report: {}, lookup: { status: 200, zzzzzzzzzz: 1 }, expect: { outcome: minted } }"))
        #expect(lookup == inner["lookup"])
    }

    @Test func `the outcomes that are declared are those there are`() throws {
        let outcome = try #require(
            Configuration.Tests.section.sections.first?.sections.first { $0.name == "expect" }?.keys.first)
        guard case .choice(let words) = outcome.form else {
            Issue.record("outcome is no choice")
            return
        }
        let messages = try messages("{ app: ios, report: {}, expect: { outcome: zzzzzzzzzz } }")
        #expect(messages == ["tests.t.expect.outcome must be one of \(words.joined(separator: ", "))"])
    }
}

@Suite("Reports of tests")
struct TestReportTests {
    private func report() async throws -> TestReport {
        let folders = Fixture.all(in: "good") + Fixture.all(in: "failing")
        var results: [CaseResult] = []
        for fixture in folders { results += try await fixture.run() }
        return TestReport(results)
    }

    @Test func `the JSON report has every test`() async throws {
        let report = try await report()
        let root = try JSONDocument(parsing: Array(report.json.utf8)).root
        #expect(root["ok"]?.bool == false)
        let tests = try #require(root["tests"]).elements
        let failed = tests.filter { $0["ok"]?.bool == false }
        #expect(tests.count > 20 && failed.count == 6)
        #expect(failed.allSatisfy { $0["failures"]?.elements.isEmpty == false })
        #expect(failed.allSatisfy { $0["failures"]?.elements.first?["line"]?.integer ?? 0 > 1 })
    }

    /// Python's own reader of XML is the judge.
    @Test func `the JUnit report is well-formed XML`() async throws {
        let script = """
            import sys, xml.etree.ElementTree as tree
            root = tree.fromstring(sys.stdin.read())
            cases = root.findall('./testsuite/testcase')
            print(root.tag, len(cases), len(root.findall('./testsuite/testcase/failure')))
            print(sum(int(s.get('tests')) for s in root), sum(int(s.get('failures')) for s in root))
            """
        let report = try await report()
        let python = try await Program.run("python3", ["-c", script], input: Data(report.junit.utf8))
        let lines = python.outputText.split(separator: "\n")
        #expect(python.status == 0, "\(python.errorText)")
        #expect(lines.first?.hasSuffix(" 6") == true && lines.last?.hasSuffix(" 6") == true, "\(python.outputText)")
        #expect(lines.first?.hasPrefix("testsuites ") == true)
    }
}
