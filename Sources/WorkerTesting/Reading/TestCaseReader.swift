import AdapterKit
import DeclaredAdapters
import Pipeline
package import WorkerConfiguration
package import YAMLReading
import Yams

/// Reads `tests`: the words are those of the tests in a vendor's file.
package struct TestCaseReader {
    private let configuration: Configuration
    private let source: ConfigurationSource

    /// A reader of tests for `configuration`; files beside them come from `source`.
    package init(_ configuration: Configuration, source: ConfigurationSource) {
        self.configuration = configuration
        self.source = source
    }

    /// Returns the cases in `tests`. A case with errors is left out, and its diagnostics have them.
    package func read(_ tests: Section) -> [TestCase] {
        tests.all.compactMap { key, name, value in
            let section = Section(value, at: key, name: tests.path(name), tests.diagnostics)
            defer { section.finish() }
            return read(section, name, at: tests.diagnostics.place(of: key))
        }
    }

    private func read(_ section: Section, _ name: String, at place: FileLocation) -> TestCase? {
        let at = section.time("at") ?? FileTests.standardTime
        let uuid = section.text("uuid")
        if let uuid, UUIDText.words(of: uuid.text) == nil {
            section.diagnostics.error(uuid.node, "\(section.path("uuid")) is no UUID")
        }
        let lookup = lookup(section)
        let record = EventReader(section, configuration, source: source).read(at: at)
        let expectation = ExpectationReader(section).read()
        guard let record, let expectation else { return nil }
        return TestCase(
            name: name, place: place, at: at, record: record, uuid: uuid?.text, lookup: lookup,
            expectation: expectation)
    }

    private func lookup(_ section: Section) -> LookupResponse? {
        guard section.value("lookup") != nil else { return nil }
        let lookup = section.section("lookup")
        defer { lookup.finish() }
        let status = lookup.integer("status", in: 100...599)
        if lookup.value("status") == nil {
            lookup.diagnostics.error(lookup.node, "\(lookup.path("status")) is missing; write it, as in status: 200")
        }
        if lookup.value("body") != nil, lookup.value("body_text") != nil {
            lookup.diagnostics.error(
                lookup.key("body_text"), "\(lookup.path("body")) stands here too; keep one of them")
        }
        let body = lookup.json("body") ?? lookup.text("body_text").map { Array($0.text.utf8) } ?? []
        return status.map { LookupResponse(status: $0, body: body) }
    }
}
