/// What an adapter makes of a report.
public enum Reading: Sendable, Equatable {
    /// It is the vendor's: who failed, why, and what that calls for.
    case failure(AuthenticationFailure)
    /// It cannot be used.
    case rejected(Rejection)
}

/// A user's failed authentication, as the vendor's SDK reported it.
public struct AuthenticationFailure: Sendable, Equatable {
    /// The user, where the report names one. Every remedy that mints has one.
    public let subject: Subject?
    /// The vendor's own name for the reason, such as `EXPIRED`; never a text from the report.
    public let reason: String
    /// What the failure calls for.
    public let remedy: Remedy
    /// The token that failed, by its hash, where the report held it.
    public let failedToken: TokenHash?
    /// The moment after which a token would be useless; nil where there is none.
    public let deadline: UnixTime?

    /// A failure of `subject` for `reason` that calls for `remedy`.
    public init(
        subject: Subject?, reason: String, remedy: Remedy, failedToken: TokenHash? = nil, deadline: UnixTime? = nil
    ) {
        self.subject = subject
        self.reason = reason
        self.remedy = remedy
        self.failedToken = failedToken
        self.deadline = deadline
    }
}

/// What a report calls for.
public enum Remedy: Sendable, Equatable {
    /// Mint a replacement.
    case mint
    /// Mint a replacement; if the report returns while that token is unexpired, another would not help.
    case mintOnce
    /// No token repairs this. Says why.
    case notFixable(String)
    /// Nothing to do: no identified user, or the SDK helps itself. Says why.
    case notForUs(String)

    /// Whether a token is to be made.
    public var mints: Bool { self == .mint || self == .mintOnce }
}

/// The SHA-256 of a token: enough to recognise it, useless to whoever reads it.
public struct TokenHash: Sendable, Hashable {
    private let bytes: [UInt8]

    /// The hash of `token`, taken on entry so that the token itself is never kept.
    public init(of token: some Collection<UInt8>) { bytes = SHA256.hash(token) }

    /// A hash an app computed by itself: 64 hexadecimal digits, as `sha256sum` prints them, or base64url.
    public init?(text: String) {
        if text.utf8.count == 64, let decoded = Self.hex(text) {
            bytes = decoded
        } else if text.utf8.count == 43, let decoded = try? Base64.url.decode(Array(text.utf8)[...]) {
            bytes = decoded
        } else {
            return nil
        }
    }

    /// The first eight bytes as a number: what a memory of many tokens keeps of each.
    public var prefix: UInt64 { bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }

    private static func hex(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
