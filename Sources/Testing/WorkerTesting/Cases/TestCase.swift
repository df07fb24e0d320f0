import AdapterKit
import Pipeline
package import YAMLReading

/// A test of a configuration: an event, and its expected outcome.
package struct TestCase: Sendable {
    /// The test's name, unique in its file.
    package let name: String
    /// The test's place in the file.
    package let place: FileLocation
    /// The time of the test's clock.
    let at: UnixTime
    /// The event as it is on its topic.
    let record: InputRecord
    /// The random ids of its token; nil for any.
    let uuid: String?
    /// The vendor's response to a look-up; nil where the test states none.
    let lookup: LookupResponse?
    let expectation: Expectation
}

/// The result of a test.
package struct CaseResult: Sendable {
    package let test: TestCase
    /// The outcome's name.
    package let outcome: String
    /// The differences from the test, each with the place of the expectation; empty where there are none.
    package let failures: [Diagnostic]

    package var isOK: Bool { failures.isEmpty }
}
