package import AdapterKit

/// The names that lead to a value inside a report.
package struct ReportPath: Sendable, Equatable {
    /// The names from the outermost object inward.
    package let names: [String]

    package var text: String { names.joined(separator: ".") }
}

/// The rules by which a report is read.
package struct ReportRules: Sendable {
    /// The wrapping of objects in objects, and of text in text; nil where the report is not wrapped.
    package let wrapping: Wrapping?
    /// The shapes, the first that fits counts; the last fits always.
    package let shapes: [ReportShape]
    /// Every member some SDK sends or the app is asked to add.
    package let members: Set<String>
    /// The signs of another vendor's report: any of these sets, each of which needs all its signs.
    package let strangers: [Set<StrangerSign>]
    /// The values that must be the app's own where the report holds them.
    package let belongings: [Belonging]
    /// The rule for a user's id, in reports and wherever else a user is named.
    package let identifiers: IdentifierRule
    /// The detail for a report without an identified user.
    package let anonymous: String

    /// Whether some shape holds the failed token.
    package var holdsToken: Bool { shapes.contains { !$0.token.isEmpty } }
    /// Whether tokens answer a challenge.
    package var isChallenged: Bool { shapes.contains { !$0.challenge.isEmpty } }
}

/// The way in which bridges wrap an SDK's report.
package struct Wrapping: Sendable {
    /// The names of the wrapped object's member, the bridges' first.
    package let names: [String]
    /// The number of levels at which the decoder looks for objects within objects.
    package let depth: Int
    /// Whether an object may stand as JSON text.
    package let isText: Bool
}

/// A sign that a report is another vendor's, together with others.
package enum StrangerSign: String, Sendable, CaseIterable {
    case noCode = "no_code"
    /// There is no code, or one that the file does not know.
    case noKnownCode = "no_known_code"
    case noUser = "no_user"
    /// There are members that no SDK of the vendor's sends.
    case otherMembers = "other_members"
}

/// A member that must equal a setting's value, where it is present.
package struct Belonging: Sendable {
    package let paths: [ReportPath]
    package let setting: String
    /// The reason for the refusal of another value.
    package let otherwise: String
}

/// The members in which one SDK reports.
package struct ReportShape: Sendable {
    package let name: String
    /// The conditions that a report must meet for the shape to fit; an empty list fits always.
    package let conditions: [ReportCondition]
    /// The spellings of the user's member; those that are there must agree.
    package let user: [ReportPath]
    /// Texts that mean nobody.
    package let nobody: Set<String>
    /// The places of the code, of which the first that holds a value counts; empty where there is none.
    package let code: [ReportPath]
    package let codeType: CodeType
    /// The places of a message for people, by which reasons differ.
    package let message: [ReportPath]
    /// The places of the token that failed.
    package let token: [ReportPath]
    /// Texts that stand for no token.
    package let noToken: Set<String>
    package let tokenHash: [ReportPath]
    /// The places of the mark that the vendor let the request pass.
    package let passed: [ReportPath]
    package let challenge: [ReportPath]
    /// The time at which the failure was observed, for `usefulFor`.
    package let time: ReportTime?
    /// The moment after which a token is useless.
    package let deadline: ReportTime?
    /// The time after the failure in which a token is of use, in seconds; nil for any time.
    package let usefulFor: Int64?
}

/// The JSON type that a code must have.
package enum CodeType: String, Sendable, CaseIterable {
    /// A number, or a string of digits.
    case number
    case text
    case any
}

/// A time in a report.
package struct ReportTime: Sendable {
    /// The unit in which the time is written.
    package enum Unit: String, Sendable, CaseIterable {
        case seconds, milliseconds, rfc3339
    }

    package let paths: [ReportPath]
    package let unit: Unit
}

/// Something that must be so in a report.
package struct ReportCondition: Sendable {
    package let path: ReportPath
    /// The strings or numbers one of which must be there, nil for an absent one; empty where any value may.
    package let values: [String?]
}
