/// A vendor's answer about one user.
public enum LookupVerdict: Sendable, Equatable {
    /// The user exists; the enrichment may add to the token.
    case exists(Enrichment)
    /// The vendor reports that the user is deleted, or that such a user cannot exist.
    case gone
    /// The vendor does not know the user: it has not met them yet, or does not reveal whether it once did.
    case unknown
    /// The answer does not cover the user.
    case unanswered(LookupFailure)
}

/// The reason that an answer decides nothing about a user. It is never the same as "gone".
public struct LookupFailure: Error, Sendable, Equatable {
    /// The reaction that the failure calls for.
    @nonexhaustive public enum Kind: String, Sendable, CaseIterable {
        /// The vendor asks for a later attempt: 429, or its own form of it.
        case throttled
        /// The vendor does not work, or cannot be reached: 5xx, a time-out, a connection that broke.
        case unavailable
        /// An operator must act: the vendor refuses the request, the endpoint, the credentials or their permissions.
        case misconfigured
        /// The answer is not what the vendor documents: cut off, too large, no JSON, or with other members.
        case unreadable
        /// The answer names another user. Nothing of it may be used.
        case mismatched
    }

    /// The reaction that the failure calls for.
    public let kind: Kind
    /// A line for an operator; never a user, a token or a credential.
    public let detail: String

    /// A failure of this kind.
    public init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    /// The meaning of an HTTP status to which the vendor gives none of its own. 429 asks the worker to wait; 5xx and
    /// 408 are no answer. A redirect is refused, since it could take the credentials elsewhere. Any other 4xx is the
    /// configuration's fault, and a 2xx that was not understood is unreadable.
    public init(status: Int) {
        switch status {
        case 429: self.init(.throttled, "status 429: the rate limit is exceeded")
        case 408, 500...599: self.init(.unavailable, "status \(status)")
        case 300...399:
            self.init(.misconfigured, "status \(status): a redirect is not followed; correct the endpoint")
        case 401: self.init(.misconfigured, "status 401: the credentials are refused")
        case 403: self.init(.misconfigured, "status 403: the credentials lack the permission")
        case 400...499:
            self.init(.misconfigured, "status \(status): the request is refused; check endpoint and settings")
        default: self.init(.unreadable, "status \(status) with a body that is not as documented")
        }
    }
}
