import AdapterKit

/// What is remembered of a subject's last token. 64 bytes, of which a million fit where a million users are.
struct RecentMint: Sendable, Equatable {
    /// Whose it is.
    var id: SubjectID
    /// When it was minted; never for a subject whose token was taken back.
    var mintedAt: UnixTime
    /// The first eight bytes of the SHA-256 of the token.
    var token: UInt64
    /// The same of tokens it replaced, the latest first; zero for none.
    var replaced: (UInt64, UInt64)
    /// When it expires, in seconds since 1970.
    var expiresAt: UInt32
    /// Which key signed it, and since which resumption of its app.
    var keyPrint: UInt32
    /// Which device asked for it; zero where the event named none.
    var device: UInt32
    /// How many tokens were minted in a row, each because the one before was refused.
    var streak: UInt8
    /// How many tokens were minted with no more than the loop window between them.
    var recent: UInt8
    /// The finding that it answers: `expired` for a clock that is wrong, `revoked`, or `none`.
    var answers: Evidence

    /// The time of no token.
    static let never = UnixTime(microseconds: .min)

    /// No token of nobody.
    static let none = RecentMint(
        id: SubjectID(high: 0, low: 0), mintedAt: never, token: 0, replaced: (0, 0), expiresAt: 0, keyPrint: 0,
        device: 0, streak: 0, recent: 0, answers: .none)

    /// Whether the token is older than this one: one that it replaced.
    func hasReplaced(_ token: UInt64) -> Bool { token != 0 && (replaced.0 == token || replaced.1 == token) }

    /// Whether `time` is at most `window` microseconds after it was minted.
    func isWithin(_ window: Int64, of time: UnixTime) -> Bool { time.microseconds(since: mintedAt) <= window }

    static func == (left: RecentMint, right: RecentMint) -> Bool {
        left.id == right.id && left.mintedAt == right.mintedAt && left.token == right.token
            && left.replaced == right.replaced && left.expiresAt == right.expiresAt && left.keyPrint == right.keyPrint
            && left.device == right.device && left.streak == right.streak && left.recent == right.recent
            && left.answers == right.answers
    }
}
