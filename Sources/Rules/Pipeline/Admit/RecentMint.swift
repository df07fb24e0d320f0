import AdapterKit

/// A subject's latest token. The entry has 64 bytes, so that a million users fit into memory.
struct RecentMint: Sendable, Equatable {
    /// The subject's id.
    var id: SubjectID
    /// The time of the mint; `never` for a subject whose token was rolled back.
    var mintedAt: UnixTime
    /// The first eight bytes of the SHA-256 of the token.
    var token: UInt64
    /// The same bytes of the tokens that it replaced, the latest first; zero for none.
    var replaced: (UInt64, UInt64)
    /// The expiry, in seconds since 1970.
    var expiresAt: UInt32
    /// The fingerprint of the key that signed the token and of the number of its app's resumptions.
    var keyPrint: UInt32
    /// The fingerprint of the device that requested the token; zero if the event named none.
    var device: UInt32
    /// The number of tokens in a row that were minted because the one before was refused.
    var streak: UInt8
    /// The number of tokens in a row that were minted with at most the loop window between them.
    var recent: UInt8
    /// The finding that the token answers: `expired` for a wrong clock, `revoked`, or `none`.
    var answers: Evidence

    /// The time that stands for no token.
    static let never = UnixTime(microseconds: .min)

    /// An empty entry.
    static let none = RecentMint(
        id: SubjectID(high: 0, low: 0), mintedAt: never, token: 0, replaced: (0, 0), expiresAt: 0, keyPrint: 0,
        device: 0, streak: 0, recent: 0, answers: .none)

    /// Returns whether this token replaced `token`.
    func hasReplaced(_ token: UInt64) -> Bool { token != 0 && (replaced.0 == token || replaced.1 == token) }

    /// Returns whether `time` is at most `window` microseconds after the mint.
    func isWithin(_ window: Int64, of time: UnixTime) -> Bool { time.microseconds(since: mintedAt) <= window }

    static func == (left: RecentMint, right: RecentMint) -> Bool {
        left.id == right.id && left.mintedAt == right.mintedAt && left.token == right.token
            && left.replaced == right.replaced && left.expiresAt == right.expiresAt && left.keyPrint == right.keyPrint
            && left.device == right.device && left.streak == right.streak && left.recent == right.recent
            && left.answers == right.answers
    }
}
