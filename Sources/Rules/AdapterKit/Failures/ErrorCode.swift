/// The reason that an event could not be answered with a token. The codes are stable: dashboards, alerts and redrives
/// match on them.
///
/// Adapters add detail, not codes.
@nonexhaustive public enum ErrorCode: String, Sendable, CaseIterable {
    /// The record is none of the event forms.
    case malformedEvent = "malformed_event"
    /// The record is larger than `worker.max_event_bytes`.
    case eventTooLarge = "event_too_large"
    /// No consumer can unpack the record batch; the dead letter stands for all its records.
    case unreadableBatch = "unreadable_batch"
    /// The event names an app that is not configured, or none.
    case unknownApp = "unknown_app"
    /// The report is not one of the app's vendor, or names a user whose id the vendor does not take.
    case malformedReport = "malformed_report"
    /// The event comes from a topic that is not its app's.
    case wrongTopic = "wrong_topic"
    /// The app accepts only events with a user that the edge has authenticated, and this one names none.
    case identityMissing = "identity_missing"
    /// The report names another user than the edge has authenticated.
    case identityMismatch = "identity_mismatch"
    /// The app takes only reports of tokens that it was given by us, and this one holds none.
    case unproven
    /// The report lacks the user it is about.
    case missingUser = "missing_user"
    /// The vendor's tokens need a member that the edge vouches for, and the event lacks it.
    case missingVouched = "missing_vouched"
    /// The vendor's tokens answer a challenge and the report holds none.
    case missingChallenge = "missing_challenge"
    /// The challenge's deadline passed before it could be answered.
    case challengeExpired = "challenge_expired"
    /// The failure is not the token's; another token would fail the same way.
    case notFixableByToken = "not_fixable_by_token"
    /// The vendor refuses the tokens we mint for a user. The detail blames the key only where the vendor's code does.
    case rejectedByVendor = "rejected_by_vendor"
    /// The app stayed suspended or paused for as long as its events may wait.
    case appSuspended = "app_suspended"
    /// The vendor reports that the user is deleted.
    case userGone = "user_gone"
    /// The vendor could not be asked.
    case lookupFailed = "lookup_failed"
    /// No key of the app's ring may sign.
    case keyUnavailable = "key_unavailable"
    /// The token could not be made.
    case mintFailed = "mint_failed"
    /// Every retry was used up.
    case retriesExhausted = "retries_exhausted"

    /// The code's meaning for an operator, in a line: the row of the documentation, and the title of a problem (RFC
    /// 9457).
    package var summary: String {
        switch self {
        case .malformedEvent: "the record has none of the four forms, or it is not JSON"
        case .eventTooLarge: "the event is larger than `worker.max_event_bytes`"
        case .unreadableBatch: "a record batch cannot be unpacked; the letter is a reference to its records"
        case .unknownApp: "the configuration has no app of this name"
        case .malformedReport:
            "the report is not one of the app's vendor, or it has an id that no user of the vendor can have"
        case .wrongTopic: "the event comes from a topic that does not belong to its app"
        case .identityMissing: "the app requires a vouched user, and the event has none"
        case .identityMismatch: "the report names another user than the vouched user"
        case .unproven: "the app has `proof: own_token`, and the report contains no token of ours"
        case .missingUser: "the app must send the user, but the report has none"
        case .missingVouched: "the vendor's tokens need a member that the edge must vouch for, but the event has none"
        case .missingChallenge: "the app must send the challenge, but the report has none"
        case .challengeExpired: "it is too late to answer the challenge"
        case .notFixableByToken: "another token would fail the same way; someone must act"
        case .rejectedByVendor:
            "the vendor refuses our unexpired tokens for this user; the detail states whether the key is the cause"
        case .appSuspended: "the app stayed suspended or paused for as long as `retries.deadline`"
        case .userGone:
            "the vendor returned that the user is gone, or does not know the user and `lookup.unknown_user` is `reject`"
        case .lookupFailed: "the vendor did not answer within the event's deadline"
        case .keyUnavailable: "no key may sign; after the last retry the code is `retries_exhausted`"
        case .mintFailed:
            "the worker could not make or publish the token; after the last retry the code is `retries_exhausted`"
        case .retriesExhausted: "every attempt failed; `remint-history` lists the failures"
        }
    }

    /// Whether the event was refused for its identity, and not for its content.
    ///
    /// A redrive sends such an event only where an operator names the code: a stranger's event must not pass together
    /// with every event that failed for another reason.
    package var isAboutIdentity: Bool {
        switch self {
        case .wrongTopic, .identityMissing, .identityMismatch, .unproven: true
        case .malformedEvent, .eventTooLarge, .unreadableBatch, .unknownApp, .malformedReport, .missingUser,
            .missingVouched, .missingChallenge, .challengeExpired, .notFixableByToken, .rejectedByVendor, .appSuspended,
            .userGone, .lookupFailed, .keyUnavailable, .mintFailed, .retriesExhausted:
            false
        }
    }

    /// A row for each code, as Markdown.
    package static var table: [String] { allCases.map { "| `\($0.rawValue)` | \($0.summary) |" } }
}

/// A report that cannot be used, and why, in one line that holds no secret and no value of the report.
public struct Rejection: Error, Sendable, Equatable {
    /// The stable code.
    public let code: ErrorCode
    /// The mistake and its correction.
    public let detail: String

    /// A rejection with `code` and `detail`.
    public init(_ code: ErrorCode, _ detail: String) {
        self.code = code
        self.detail = detail
    }
}

extension Rejection {
    /// The report names another user than the edge has authenticated.
    public static let identityMismatch = Rejection(
        .identityMismatch, "the report names another user than the one the event vouches for")

    /// Returns the rejection of an event whose edge does not vouch for `member`.
    public static func missingVouched(_ member: String) -> Rejection {
        Rejection(
            .missingVouched,
            "the event does not vouch for \"\(member)\", which every token of the app needs; let the edge write it into \"vouched\" beside the user"
        )
    }
}
