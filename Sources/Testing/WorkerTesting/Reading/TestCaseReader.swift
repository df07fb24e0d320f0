import AdapterKit
import DeclaredAdapters
import Pipeline
package import WorkerConfiguration
package import YAMLReading
import Yams

/// Reads `tests`: the words are those of the tests in a vendor's file.
package struct TestCaseReader {
    private typealias Keys = Configuration.Tests

    private let configuration: Configuration
    private let source: ConfigurationSource

    /// A reader of tests for `configuration`; files beside them come from `source`.
    package init(_ configuration: Configuration, source: ConfigurationSource) {
        self.configuration = configuration
        self.source = source
    }

    /// Returns the cases in `tests`. A case with errors is left out, and its diagnostics have them.
    package func read(_ tests: Section) -> [TestCase] {
        tests.each { section, name in read(section, name, at: tests.diagnostics.place(of: section.place)) }
    }

    private func read(_ section: Section, _ name: String, at place: FileLocation) -> TestCase? {
        let at = section.read(Keys.at) ?? FileTests.standardTime
        let uuid = section.placed(Keys.uuid)
        if let uuid, UUIDText.words(of: uuid.value) == nil {
            section.error(Keys.uuid, at: uuid.node, "is no UUID")
        }
        let lookup = lookup(section)
        let record = EventReader(section, configuration, source: source).read(at: at)
        let expectation = ExpectationReader(section).read()
        guard let record, let expectation else { return nil }
        return TestCase(
            name: name, place: place, at: at, record: record, uuid: uuid?.value, lookup: lookup,
            expectation: expectation)
    }

    private func lookup(_ section: Section) -> LookupResponse? {
        guard section.value(of: Keys.LookupAnswer.section) != nil else { return nil }
        let lookup = section.section(Keys.LookupAnswer.section)
        defer { lookup.finish() }
        let (statusKey, bodyKey, textKey) = (
            Keys.LookupAnswer.status, Keys.LookupAnswer.body, Keys.LookupAnswer.bodyText
        )
        let status = lookup.read(statusKey)
        if lookup.value(of: statusKey) == nil {
            lookup.missing(
                statusKey.name, "\(lookup.path(of: statusKey)) is missing; write it, as in \(statusKey.name): 200")
        }
        if lookup.value(of: bodyKey) != nil, lookup.value(of: textKey) != nil {
            lookup.error(bodyKey, at: lookup.key(of: textKey), "stands here too; keep one of them")
        }
        let body = lookup.read(bodyKey) ?? lookup.read(textKey).map { Array($0.utf8) } ?? []
        return status.map { LookupResponse(status: $0, body: body) }
    }
}
