/// The user of a report, as four cases that must stay apart.
///
/// - A member with an id: that user.
/// - A member that is null or empty: the SDK reports that nobody is identified. There is nothing to mint.
/// - No member at all: the app left out a member that it must send. That is a mistake to be reported, not an anonymous
///   user.
/// - A member of another type: its user is unknown. A number, for instance, has lost its leading zeros, and a token for
///   the wrong user is worse than none.
public enum ReportedUser: Sendable, Equatable {
    /// This user.
    case identified(String)
    /// The SDK reports that nobody is identified.
    case anonymous
    /// The report lacks its user, or holds something that is not an id.
    case unusable(Rejection)

    /// Reads the user in `field`, which reports call `name`, if it agrees with `vouched`.
    ///
    /// Where the report names nobody, or cannot name anybody (a number, a missing member), the vouched user is the
    /// user. Where it names another one, byte for byte, there is none.
    public init(_ field: ReportField, name: String, vouched: VouchedUser? = nil) {
        guard let vouched, let user = vouched.subject.user else {
            self.init(reported: field, name: name)
            return
        }
        if case .text(let id) = field, !id.hasSameBytes(as: user) {
            self = .unusable(.identityMismatch)
        } else {
            self = .identified(user)
        }
    }

    private init(reported field: ReportField, name: String) {
        switch field {
        case .text(let id): self = .identified(id)
        case .null: self = .anonymous
        case .absent:
            self = .unusable(
                Rejection(.missingUser, "the report has no \"\(name)\"; send it as null for an anonymous user"))
        case .integer, .other:
            self = .unusable(Rejection(.malformedReport, "\"\(name)\" must be a string, exactly the id the SDK uses"))
        }
    }
}
