/// The token that a report is about.
///
/// A secret: it is held for as long as a report is read and its signature checked, and goes on as its hash alone. However it
/// is printed, the token is not.
public enum FailedToken: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The token itself.
    case token([UInt8])
    /// The hash, which an app computed by itself.
    case hash(TokenHash)

    /// The token `text`.
    public init(_ text: String) { self = .token(Array(text.utf8)) }

    /// The token's hash.
    public var hash: TokenHash {
        switch self {
        case .token(let bytes): TokenHash(of: bytes)
        case .hash(let hash): hash
        }
    }

    /// A stand-in: the token is a secret.
    public var description: String {
        switch self {
        case .token: "a token"
        case .hash: "a token's hash"
        }
    }
    /// Nothing: a dump or a mirror shows no member.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The key that signed a failed token, as far as the signature shows.
package enum TokenSigner: String, Sendable, CaseIterable {
    /// The version of the app's ring that signs now.
    case active
    /// A version that signed before and still verifies.
    case passive
    /// A version that is to sign.
    case prepared
    /// A version that is of no further use.
    case retired
    /// None of our versions in use for this user: another key, a revoked version, another user's token, or no token at
    /// all where the report should hold one.
    case foreign
    /// The report holds no token.
    case none

    /// Whether the token is one of ours.
    package var isOurs: Bool { self != .foreign && self != .none }
}

/// Remedies that depend on which of our keys signed the token that failed.
public struct SignerRemedies: Sendable, Equatable {
    /// The remedy where the active version signed the token.
    public let active: Remedy
    /// The remedy where another version signed the token, which has been replaced since.
    public let older: Remedy

    /// Remedies for a token of the active version and for one of an older version.
    public init(active: Remedy, older: Remedy) {
        self.active = active
        self.older = older
    }
}

/// The SHA-256 of a token: enough to recognize it, useless to a reader.
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

    /// The first eight bytes as a number, for a memory of many tokens.
    package var prefix: UInt64 { bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }

    private static func hex(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
