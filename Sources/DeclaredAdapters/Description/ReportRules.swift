package import AdapterKit

/// The names that lead to a value inside a report.
package struct ReportPath: Sendable, Equatable {
    /// From the outermost in.
    package let names: [String]

    /// The path as a file writes it.
    package var text: String { names.joined(separator: ".") }
}

/// How a report is read.
package struct ReportRules: Sendable {
    /// Objects within objects, and text within text; nil where the report is what it is.
    package let wrapping: Wrapping?
    /// The shapes, the first that fits counts; the last fits always.
    package let shapes: [ReportShape]
    /// Every member some SDK sends or the app is asked to add.
    package let members: Set<String>
    /// When the report is another vendor's: any of these, each of which wants all its signs.
    package let strangers: [Set<StrangerSign>]
    /// What must be the app's own where it stands in the report.
    package let belongings: [Belonging]
    /// The rule for a user's id, in reports and wherever else a user is named.
    package let identifiers: IdentifierRule
    /// What is said of a report without an identified user.
    package let anonymous: String

    /// Whether some shape holds the failed token.
    package var holdsToken: Bool { shapes.contains { !$0.token.isEmpty } }
    /// Whether tokens answer a challenge.
    package var isChallenged: Bool { shapes.contains { !$0.challenge.isEmpty } }
}

/// How bridges wrap what an SDK says.
package struct Wrapping: Sendable {
    /// The names under which the wrapped object stands, the bridges' first.
    package let names: [String]
    /// How deep objects within objects are looked for.
    package let depth: Int
    /// Whether an object may stand as JSON text.
    package let isText: Bool
}

/// What makes a report another vendor's, together with others.
package enum StrangerSign: String, Sendable, CaseIterable {
    /// There is no code.
    case noCode = "no_code"
    /// There is no code, or one that the file does not know.
    case noKnownCode = "no_known_code"
    /// There is no member for the user.
    case noUser = "no_user"
    /// There are members that no SDK of the vendor's sends.
    case otherMembers = "other_members"
}

/// A member that must say what a setting says, where it is there.
package struct Belonging: Sendable {
    package let paths: [ReportPath]
    package let setting: String
    /// What is wrong where it says something else.
    package let otherwise: String
}

/// Where one SDK writes what.
package struct ReportShape: Sendable {
    /// Which SDK, for the page.
    package let name: String
    /// What must be so for the shape to fit; empty fits always.
    package let conditions: [ReportCondition]
    /// The spellings of the user's member; those that are there must agree.
    package let user: [ReportPath]
    /// Texts that mean nobody.
    package let nobody: Set<String>
    /// Where the code stands, the first that holds a value; empty where there is none.
    package let code: [ReportPath]
    /// Which JSON a code must be.
    package let codeType: CodeType
    /// Where a text for people stands that tells reasons apart.
    package let message: [ReportPath]
    /// Where the token that failed stands.
    package let token: [ReportPath]
    /// Texts that stand for no token.
    package let noToken: Set<String>
    /// Where the token's hash stands.
    package let tokenHash: [ReportPath]
    /// Where the report says that the request was let pass.
    package let passed: [ReportPath]
    /// Where the challenge's nonce stands.
    package let challenge: [ReportPath]
    /// When the failure was observed, for `usefulFor`.
    package let time: ReportTime?
    /// After which moment a token is useless.
    package let deadline: ReportTime?
    /// For how many seconds after the failure a token is of use; nil for any time.
    package let usefulFor: Int64?
}

/// Which JSON a code must be.
package enum CodeType: String, Sendable, CaseIterable {
    /// A number, or a text of digits.
    case number
    case text
    case any
}

/// A time in a report.
package struct ReportTime: Sendable {
    /// How it is written.
    package enum Unit: String, Sendable, CaseIterable {
        case seconds, milliseconds, rfc3339
    }

    package let paths: [ReportPath]
    package let unit: Unit
}

/// Something that must be so in a report.
package struct ReportCondition: Sendable {
    package let path: ReportPath
    /// The texts or numbers one of which must stand there, nil for an absent one; empty where anything may.
    package let values: [String?]
}
