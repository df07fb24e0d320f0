/// An adapter's reading of a report.
public enum Reading: Sendable, Equatable {
    /// The report is the vendor's: the user, the reason, and the remedy.
    case failure(AuthenticationFailure)
    /// The report cannot be used.
    case rejected(Rejection)
}

/// A user's failed authentication, as the vendor's SDK reported it.
public struct AuthenticationFailure: Sendable, Equatable {
    /// The user, where the report names one. Every remedy that mints has one.
    public let subject: Subject?
    /// The vendor's own name for the reason, such as `EXPIRED`; never free text from the report.
    public let reason: String
    /// The fact about the failed token that the vendor's code proves.
    public let evidence: Evidence
    /// The remedy for the failure, unless `signerRemedies` names another.
    public let remedy: Remedy
    /// The remedies that depend on which of our keys signed the failed token; nil where the signer does not matter.
    public let signerRemedies: SignerRemedies?
    /// The token that failed, where the report held it or its hash.
    public let failedToken: FailedToken?
    /// Whether the vendor's own code states that the device had no token, and so can show none.
    public let hadNoToken: Bool
    /// Whether the vendor refused the request; false where it admits requests and only reports (Braze's Optional mode).
    public let isEnforced: Bool
    /// The moment after which a token would be useless; nil where there is none.
    public let deadline: UnixTime?

    /// A failure of `subject` for `reason`, which is evidence of `evidence` and calls for `remedy`.
    public init(
        subject: Subject?, reason: String, evidence: Evidence, remedy: Remedy,
        signerRemedies: SignerRemedies? = nil, failedToken: FailedToken? = nil, hadNoToken: Bool = false,
        isEnforced: Bool = true, deadline: UnixTime? = nil
    ) {
        self.subject = subject
        self.reason = reason
        self.evidence = evidence
        self.remedy = remedy
        self.signerRemedies = signerRemedies
        self.failedToken = failedToken
        self.hadNoToken = hadNoToken
        self.isEnforced = isEnforced
        self.deadline = deadline
    }

    /// Returns the remedy where `signer` signed the token that failed.
    package func remedy(signedBy signer: TokenSigner) -> Remedy {
        switch signer {
        case .active: signerRemedies?.active ?? remedy
        case .passive, .prepared, .retired: signerRemedies?.older ?? remedy
        case .foreign, .none: remedy
        }
    }
}

/// The worker's reaction that a report calls for.
@nonexhaustive public enum Remedy: Sendable, Equatable {
    /// Mint a replacement.
    case mint
    /// Mint a replacement; if the report returns while that token is unexpired, another would not help.
    case mintOnce
    /// No token fixes the failure, for this reason.
    case notFixable(String)
    /// There is nothing to do, for this reason: no user is identified, or the SDK recovers by itself.
    case notForUs(String)

    /// Whether a token is to be made.
    public var mints: Bool { self == .mint || self == .mintOnce }
}

extension Remedy {
    /// The remedy's name in fixtures, logs and metrics.
    package var name: String {
        switch self {
        case .mint: "mint"
        case .mintOnce: "mint_once"
        case .notFixable: "not_fixable"
        case .notForUs: "not_for_us"
        }
    }
}
