import AdapterKit
import DeclaredTesting
import Pipeline
package import YAMLReading

/// A test of a configuration: an event, and its expected outcome.
package struct TestCase: Sendable {
    /// The test's name, unique in its file.
    package let name: String
    package let place: FileLocation
    let at: UnixTime
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
    package let outcome: String
    /// The differences from the test, each with the place of the expectation; empty where there are none.
    package let failures: [Diagnostic]

    package var isOK: Bool { failures.isEmpty }
}

/// The expected end of an event. Members that are nil or empty are not compared.
struct Expectation: Sendable {
    let place: FileLocation
    let outcome: Placed<String>
    /// A dead letter's code, or the reason of a deferral or of a supersession.
    var code: Placed<String>?
    /// The vendor's name of the failure.
    var reason: Placed<String>?
    var because: Placed<String>?
    var topic: Placed<String>?
    var key: Placed<String>?
    var headers: [(name: String, value: Placed<String>)] = []
    var token = Token()

    /// The expected parts of a token.
    struct Token: Sendable {
        var user: Placed<String>?
        var ids: PlacedJSON?
        var challenge: Placed<String>?
        /// The time from its issue to its end, in seconds.
        var lives: Placed<Int64>?
        var sealedFor: Placed<String>?
        var header = Part()
        var payload = Part()
    }

    /// A token's header or its claims.
    struct Part: Sendable {
        var exact: PlacedJSON?
        var has: PlacedJSON?
        var lacks: [Placed<String>] = []
    }
}

/// A value with its place in a file.
struct Placed<Value: Sendable>: Sendable {
    let value: Value
    let place: FileLocation
}

/// JSON in a file, with the place of each part.
struct PlacedJSON: Sendable {
    let json: [UInt8]
    let places: Places

    /// The places of a value and of the values in it.
    struct Places: Sendable {
        let place: FileLocation
        var members: [String: Places] = [:]
        var elements: [Places] = []

        /// Returns the place of the value at the end of `path`; for a missing value, the place of the value that would
        /// hold it.
        func place(of path: some Collection<JSONDifference.Step>) -> FileLocation {
            let next: Places? =
                switch path.first {
                case .member(let name): members[name]
                case .element(let index): elements.indices.contains(index) ? elements[index] : nil
                case nil: nil
                }
            return next?.place(of: path.dropFirst()) ?? place
        }
    }
}
