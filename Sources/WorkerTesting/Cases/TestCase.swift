import AdapterKit
import Pipeline
package import YAMLReading

/// A test of a configuration: an event, and what must come of it.
package struct TestCase: Sendable {
    /// Its name, one of its file's.
    package let name: String
    /// Where it stands.
    package let place: FileLocation
    /// What the clock says.
    let at: UnixTime
    /// The event as it stands on its topic.
    let record: InputRecord
    /// The random ids of its token; nil for any.
    let uuid: String?
    /// What the vendor answers to a look-up; nil where it is not said.
    let lookup: LookupResponse?
    let expectation: Expectation
}

/// How a test ended.
package struct CaseResult: Sendable {
    package let test: TestCase
    /// The outcome's name.
    package let outcome: String
    /// What is not as the test says, each with the place that says otherwise; empty where all is.
    package let failures: [Diagnostic]

    package var isOK: Bool { failures.isEmpty }
}
