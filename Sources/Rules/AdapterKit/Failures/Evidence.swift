/// The fact about a token that a vendor's code proves, if the token that failed is one of ours and unexpired.
///
/// Each code of each adapter has one. A code determines a remedy (whether another token helps) and an evidence (the
/// fact about the failed token). Admission counts by the evidence.
@nonexhaustive public enum Evidence: String, Sendable, CaseIterable {
    /// The vendor cannot use tokens of the app's key: a bad signature, a key the vendor does not know, a malformed
    /// token. Every user's token fails the same way, so this alone counts towards a suspension.
    case key
    /// The token is expired by the clock of its checker. For an unexpired token, that clock is wrong or the SDK names
    /// the wrong token: the key is not to blame.
    case expired
    /// The vendor took the token back. Another token helps.
    case revoked
    /// No fact about the token: the device had none, the token was for another user, the code names no reason.
    case none

    /// Returns the evidence of a report that has the words `text` beside its code. Words about a clock or an expiry never
    /// blame the key: `key` becomes `none`.
    ///
    /// - Parameter text: the words of the vendor or of its SDK; nil where the report has none.
    public func given(text: String?) -> Evidence {
        guard self == .key, let text, text.utf8.count <= 4096 else { return self }
        let words = text.lowercased()
        return Self.clockWords.contains(where: words.contains) ? .none : self
    }

    /// Words of the libraries that check `exp`, `nbf` and `iat`, in lower case.
    private static let clockWords = [
        "expir", "not valid yet", "not yet valid", "not active", "not before", "nbf", "before issued", "in the future",
        "at future", "too early", "clock", "skew",
    ]

    /// The meaning in a line, for tables and schemas.
    package var summary: String {
        switch self {
        case .key: "bad signature, unknown key or malformed token; counts towards a suspension"
        case .expired: "expired; about an unexpired token of ours it is a wrong clock or the SDK's mistake"
        case .revoked: "taken back by the vendor; another token helps"
        case .none: "proves nothing about the token"
        }
    }

    /// The values as a list in words: `key, expired, revoked or none`.
    package static var choices: String {
        let names = allCases.map(\.rawValue)
        return names.dropLast().joined(separator: ", ") + " or " + names.suffix(1).joined()
    }
}
