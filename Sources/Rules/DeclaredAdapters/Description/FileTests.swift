package import AdapterKit
package import YAMLReading

/// The tests of a vendor's file.
package struct FileTests: Sendable {
    /// The time of a test that sets none: 2027-01-15T08:00:00Z.
    package static let standardTime = UnixTime(seconds: 1_800_000_000)

    /// A key in plain text, for tests alone.
    package enum Key: Sendable {
        case secret(String, SecretEncoding)
        case pem(String)
    }

    /// An example app.
    package struct App: Sendable {
        package let name: String
        package let settings: [UInt8]
        package let reissue: [UInt8]?
        package let place: FileLocation
        /// The members besides the user that the edge vouches for, as JSON: those of the first token test that has all required
        /// ones; nil where the user is enough for a token.
        package let vouched: [UInt8]?
    }

    /// A report and its expected reading, as the JSON of a recorded one.
    package struct Report: Sendable {
        package let name: String
        package let json: [UInt8]
        package let place: FileLocation
    }

    /// A token that must come out.
    package struct Token: Sendable {
        package let app: String
        package let user: String
        package let challenge: String?
        /// `vouched` of the event, as JSON; nil where nobody vouches.
        package let vouched: [UInt8]?
        package let issuedAt: UnixTime
        /// The token's lifetime, in seconds; negative for the adapter's standard.
        package let life: Int64
        package let uuid: String?
        package let header: [UInt8]?
        package let payload: [UInt8]?
        /// The token's bytes, where the vendor publishes one or the algorithm gives the same each time.
        package let token: String?
        /// The key of this test alone.
        package let key: Key?
        package let keyID: String?
        /// The code with which there must be no token; nil where there must be one.
        package let rejection: ErrorCode?
        package let place: FileLocation
    }

    /// Settings that must be refused.
    package struct Refusal: Sendable {
        package let settings: [UInt8]
        /// The text that the refusal must contain; empty for any refusal.
        package let because: String
        package let place: FileLocation
    }

    package let now: UnixTime
    package let key: Key?
    package let keyID: String?
    package let apps: [App]
    package let reports: [Report]
    package let tokens: [Token]
    package let verdicts: [(name: String, verdict: String, place: FileLocation)]
    package let refusals: [Refusal]
    /// The place of the reports in the file; that of the tests where there are none.
    package let reportsPlace: FileLocation
    /// The place of the verdicts in the file; that of the tests where there are none.
    package let verdictsPlace: FileLocation
    package let place: FileLocation
}
